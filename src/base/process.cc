#include "base/process.h"

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <limits>
#include <optional>
#include <string_view>

#include "base/file.h"

namespace precast::base {
namespace {

constexpr std::uint64_t kMaxProcFileBytes = 4096;

std::string first_line(const std::string& path) {
  const auto bytes = read_file(path, kMaxProcFileBytes);
  if (!bytes) return {};
  return bytes->substr(0, bytes->find('\n'));
}

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

std::uint64_t pid_namespace() {
  struct stat status{};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

// A process in a new PID namespace may still see the /proc of the one above, where its pids are
// those of others.
bool proc_is_of_own_namespace() {
  std::array<char, 32> target{};
  const ssize_t size = ::readlink("/proc/self", target.data(), target.size());
  return size > 0 && std::string_view(target.data(), static_cast<std::size_t>(size)) ==
                         std::to_string(::getpid());
}

struct ProcessState {
  char state = '?';
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;
};

// The numbers are those of proc(5), where the state is the third field. The second one, the name,
// may hold anything, a closing bracket too.
std::optional<ProcessState> state_of(const std::string& pid) {
  constexpr std::size_t kThreads = 20 - 3;
  constexpr std::size_t kStartTicks = 22 - 3;
  const std::string line = first_line("/proc/" + pid + "/stat");
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(line).substr(name_end + 2);
  ProcessState found;
  for (std::size_t field = 0; !rest.empty(); ++field) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (field == 0) found.state = word.empty() ? '?' : word[0];
    if (field == kThreads) std::from_chars(word.begin(), word.end(), found.threads);
    if (field == kStartTicks) {
      const auto parsed = std::from_chars(word.begin(), word.end(), found.start_ticks);
      return parsed.ec == std::errc() ? std::optional(found) : std::nullopt;
    }
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return std::nullopt;
}

}  // namespace

ProcessId this_process_id() {
  const std::optional<ProcessState> self = state_of("self");
  return {.boot_id = boot_id(),
          .pid_namespace = pid_namespace(),
          .pid = ::getpid(),
          .start_ticks = self ? self->start_ticks : 0};
}

std::int64_t started_unix_ns() {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::optional<ProcessState> self = state_of("self");
  const std::int64_t ticks = ::sysconf(_SC_CLK_TCK);
  struct timespec now{};
  struct timespec up{};
  if (!self || ticks <= 0 || ::clock_gettime(CLOCK_REALTIME, &now) != 0 ||
      ::clock_gettime(CLOCK_BOOTTIME, &up) != 0) {
    return 0;
  }
  const auto ns = [](const struct timespec& t) { return t.tv_sec * kSecond + t.tv_nsec; };
  const auto started = static_cast<std::int64_t>(self->start_ticks) * (kSecond / ticks);
  return ns(now) - ns(up) + started;
}

bool has_certainly_ended(const ProcessId& process) {
  if (process.boot_id.empty() || process.pid_namespace == 0) return false;
  if (process.pid <= 0 || process.pid > std::numeric_limits<pid_t>::max()) return false;
  if (process.boot_id != boot_id() || process.pid_namespace != pid_namespace()) return false;
  // Not by /proc alone, which may hide the processes of other users.
  if (::kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH) return true;
  if (!proc_is_of_own_namespace()) return false;
  const std::optional<ProcessState> now = state_of(std::to_string(process.pid));
  if (!now) return false;
  if (process.start_ticks != 0 && now->start_ticks != process.start_ticks) return true;
  // A first thread that has ended looks like a zombie while others go on.
  const bool has_ended = now->state == 'Z' || now->state == 'X' || now->state == 'x';
  return has_ended && now->threads <= 1;
}

}  // namespace precast::base
