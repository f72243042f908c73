// The names of the files of counters. Persisted: append only.
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <limits>

#include "base/hash.h"
#include "stats/folder.h"

namespace precast::stats {
namespace {

constexpr std::string_view kProcess = "process-";
constexpr std::string_view kMonth = "month-";
constexpr std::string_view kVersion = ".v1";
constexpr std::size_t kPlaceDigits = 16;
constexpr std::size_t kRandomBytes = 8;
constexpr std::uint64_t kMaxProcFileBytes = 4096;

std::string first_line(const std::string& path) {
  const auto bytes = base::read_file(path, kMaxProcFileBytes);
  return bytes ? bytes->substr(0, bytes->find('\n')) : std::string();
}

// When a process started, in the system's ticks; 0 when it cannot be seen. The name, field 2 of
// proc(5), may hold anything, and the time is field 22.
std::uint64_t start_ticks(const std::string& pid) {
  const std::string line = first_line("/proc/" + pid + "/stat");
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos) return 0;
  std::size_t at = name_end + 2;
  for (int field = 3; field < 22; ++field) {
    at = line.find(' ', at);
    if (at == std::string::npos) return 0;
    ++at;
  }
  std::uint64_t ticks = 0;
  std::from_chars(line.data() + at, line.data() + line.size(), ticks);
  return ticks;
}

template <typename T>
bool read_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::string_view take_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find('-'));
  rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  return word;
}

bool is_named(std::string_view name, std::string_view kind) {
  return name.starts_with(kind) && name.ends_with(kVersion);
}

}  // namespace

bool is_process_file(std::string_view name) { return is_named(name, kProcess); }
bool is_month_file(std::string_view name) { return is_named(name, kMonth); }

bool is_newer_file(std::string_view name) {
  return (name.starts_with(kProcess) || name.starts_with(kMonth)) && !name.ends_with(kVersion);
}

bool is_unfinished(std::string_view name) { return name.starts_with(".tmp-"); }

std::string month_file(std::int64_t unix_s) {
  const std::time_t time = unix_s;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return fmt::format("{}{:04}-{:02}{}", kMonth, parts.tm_year + 1900, parts.tm_mon + 1, kVersion);
}

std::string this_place() {
  struct stat status{};
  const std::string boot = first_line("/proc/sys/kernel/random/boot_id");
  if (boot.empty() || ::stat("/proc/self/ns/pid", &status) != 0) return {};
  base::Sha256 hash;
  hash.update_framed(boot).update_u64(status.st_ino);
  return hash.finish().hex().substr(0, kPlaceDigits);
}

std::string new_process_file() {
  std::array<char, kRandomBytes> random{};
  // Without it the rest still differs from process to process.
  (void)::getrandom(random.data(), random.size(), GRND_NONBLOCK);
  const std::string here = this_place();
  return fmt::format("{}{}-{}-{}-{}{}", kProcess, here.empty() ? "unknown" : here, ::getpid(),
                     start_ticks("self"), base::to_hex({random.data(), random.size()}), kVersion);
}

bool has_ended(std::string_view process_file, std::string_view this_place) {
  if (!is_process_file(process_file) || this_place.empty()) return false;
  std::string_view rest = process_file.substr(kProcess.size());
  const std::string_view where = take_word(rest);
  pid_t pid = 0;
  std::uint64_t start = 0;
  if (!read_number(take_word(rest), pid) || !read_number(take_word(rest), start)) return false;
  if (pid <= 0 || where != this_place) return false;
  // Not by /proc alone, which may hide the processes of other users.
  if (::kill(pid, 0) != 0 && errno == ESRCH) return true;
  const std::uint64_t now = start_ticks(std::to_string(pid));
  return start != 0 && now != 0 && now != start;
}

}  // namespace precast::stats
