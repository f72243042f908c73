#include "lease/held_slot.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "base/periodic.h"
#include "precast/leases.h"

namespace precast::lease {
namespace {

enum State : int {
  kFree,
  kChanging,  // a thread works on it: nobody else looks
  kHeld,
  kReleasing,  // a handler works on it, which may be on any thread
  kReleased,
};
static_assert(std::atomic<int>::is_always_lock_free &&
                  std::atomic<std::uint64_t>::is_always_lock_free,
              "a handler must not wait for a lock");

struct Entry {
  std::atomic<int> state = kFree;
  std::atomic<std::uint64_t> taking = 0;     // how often it was taken
  std::atomic<std::uint64_t> passed_by = 0;  // the last taking that handlers leave alone
  HeldFile file;

  bool is_passed_by() const { return passed_by == taking; }
};

constinit std::array<Entry, kMaxHeldLeases> table;

// Takes the entry for a change, and returns the state that it had.
int begin_change(Entry& entry) {
  while (true) {
    for (int from : {kHeld, kReleased}) {
      if (entry.state.compare_exchange_strong(from, kChanging, std::memory_order_acq_rel)) {
        return from;
      }
    }
    // A handler is at it on another thread, for two system calls.
    ::sched_yield();
  }
}

void end_change(Entry& entry, int state) { entry.state.store(state, std::memory_order_release); }

template <typename Change>
void change(Entry& entry, Change what) {
  const int state = begin_change(entry);
  what(entry.file);
  end_change(entry, state);
}

void close_both(HeldFile& file) {
  for (int* fd : {&file.fd, &file.folder}) {
    if (*fd >= 0) ::close(*fd);
    *fd = -1;
  }
}

// The child's copies of the descriptors go; what they lead to is the parent's.
void in_child() {
  for (Entry& entry : table) {
    const int state = entry.state.load(std::memory_order_relaxed);
    if (state == kFree) continue;
    // One that a thread of the parent was changing may be half done, and keeps what it has.
    if (state != kChanging && !entry.is_passed_by()) close_both(entry.file);
    entry.state.store(kFree, std::memory_order_relaxed);
  }
}

const bool watches_forks = ::pthread_atfork(nullptr, nullptr, in_child) == 0;

template <std::size_t size>
void copy_name(std::array<char, size>& into, const std::string& name) {
  into.fill('\0');
  name.copy(into.data(), size - 1);
}

void release(const HeldFile& file) {
  if (file.temporary[0] != '\0') ::unlinkat(file.folder, file.temporary.data(), 0);
  struct stat status{};
  if (::fstatat(file.folder, file.name.data(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (status.st_dev != file.device || status.st_ino != file.inode) return;
  ::unlinkat(file.folder, file.name.data(), 0);
}

}  // namespace

Result<HeldSlot> HeldSlot::take(base::Fd fd, base::Fd folder, const std::string& name,
                                const std::string& temporary) {
  if (!watches_forks) {
    return Error(ErrorCode::resource_exhausted, "no memory to notice when this process forks");
  }
  for (int index = 0; index < kMaxHeldLeases; ++index) {
    Entry& entry = table[static_cast<std::size_t>(index)];
    int expected = kFree;
    if (!entry.state.compare_exchange_strong(expected, kChanging, std::memory_order_acq_rel)) {
      continue;
    }
    const std::uint64_t taking = ++entry.taking;
    entry.file = HeldFile{.fd = fd.release(), .folder = folder.release()};
    copy_name(entry.file.name, name);
    copy_name(entry.file.temporary, temporary);
    end_change(entry, kHeld);
    return HeldSlot(index, base::process_number(), taking);
  }
  return Error(ErrorCode::resource_exhausted,
               "this process holds " + std::to_string(kMaxHeldLeases) +
                   " leases already, which is the most (kMaxHeldLeases)");
}

HeldSlot::HeldSlot(HeldSlot&& other) noexcept
    : index_(std::exchange(other.index_, -1)), process_(other.process_), taking_(other.taking_) {}

HeldSlot::~HeldSlot() {
  if (index_ < 0 || !is_of_this_process()) return;
  Entry& entry = table[static_cast<std::size_t>(index_)];
  begin_change(entry);
  close_both(entry.file);
  end_change(entry, kFree);
}

void HeldSlot::Id::pass_by() const {
  if (index < 0 || process != base::process_number()) return;
  std::atomic<std::uint64_t>& passed_by = table[static_cast<std::size_t>(index)].passed_by;
  std::uint64_t before = passed_by;
  while (before < taking && !passed_by.compare_exchange_weak(before, taking)) {
  }
}

bool HeldSlot::is_of_this_process() const { return process_ == base::process_number(); }

bool HeldSlot::was_released() const {
  return table[static_cast<std::size_t>(index_)].state.load(std::memory_order_acquire) == kReleased;
}

const HeldFile& HeldSlot::file() const { return table[static_cast<std::size_t>(index_)].file; }

void HeldSlot::set_file(dev_t device, ino_t inode) {
  change(table[static_cast<std::size_t>(index_)], [&](HeldFile& file) {
    file.device = device;
    file.inode = inode;
  });
}

void HeldSlot::replace_fd(base::Fd fd, dev_t device, ino_t inode) {
  change(table[static_cast<std::size_t>(index_)], [&](HeldFile& file) {
    ::close(file.fd);
    file.fd = fd.release();
    file.device = device;
    file.inode = inode;
  });
}

void HeldSlot::forget_temporary() {
  change(table[static_cast<std::size_t>(index_)], [](HeldFile& file) { file.temporary[0] = '\0'; });
}

}  // namespace precast::lease

namespace precast {

void release_leases_on_signal() noexcept {
  using namespace lease;  // NOLINT(google-build-using-namespace): the other half of this file
  const int error = errno;
  for (Entry& entry : table) {
    int expected = kHeld;
    if (!entry.state.compare_exchange_strong(expected, kReleasing, std::memory_order_acq_rel)) {
      continue;
    }
    const bool passed_by = entry.is_passed_by();
    if (!passed_by) release(entry.file);
    entry.state.store(passed_by ? kHeld : kReleased, std::memory_order_release);
  }
  errno = error;
}

}  // namespace precast
