// For what must work in a child that was forked while another thread was at work: that thread held
// locks, and is not there to give them back.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

namespace precast::testing {

// Whether the process ends by itself and says that it went well.
inline bool ended_well(pid_t child) {
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

// Calls `busy` (with 0, 1, 2, ...) again and again on a thread, and forks meanwhile; true when
// `in_child` was true in each of the children. One that hangs counts as false. All of this is in a
// process of its own. Under AddressSanitizer and ThreadSanitizer that is no test: their allocators
// may be locked at the fork.
inline bool forks_are_safe(const std::function<void(int)>& busy,
                           const std::function<bool(int)>& in_child) {
  constexpr int kForks = 12;
  constexpr unsigned kHangsSeconds = 60;
  const pid_t parent = ::fork();
  if (parent != 0) return ended_well(parent);
  std::atomic<int> rounds = 0;
  std::atomic<bool> stop = false;
  std::thread at_work([&] {
    while (!stop) busy(rounds++);
  });
  while (rounds == 0) std::this_thread::yield();
  bool good = true;
  for (int i = 0; good && i < kForks; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(kHangsSeconds);
      ::_exit(in_child(i) ? 0 : 1);
    }
    good = ended_well(child);
  }
  stop = true;
  at_work.join();
  ::_exit(good ? 0 : 1);
}

// A copy of the library at `from`, so large that hashing it takes a while.
inline void copy_enlarged(const std::filesystem::path& from, const std::filesystem::path& to) {
  constexpr std::uintmax_t kBytes = 24 << 20;
  std::filesystem::copy_file(from, to);
  std::filesystem::resize_file(to, kBytes);  // the loader looks at what the headers name
}

// Has whoever knows the digest of this file hash it again: its content stays.
inline void change_mode(const std::filesystem::path& file, bool odd) {
  using std::filesystem::perms;
  std::filesystem::permissions(file, odd ? perms::owner_all : perms::owner_read);
}

}  // namespace precast::testing
