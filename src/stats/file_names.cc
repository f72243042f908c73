// The names of the files of counters. Persisted: append only.
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include "base/hash.h"
#include "base/process.h"
#include "stats/folder.h"

namespace precast::stats {
namespace {

constexpr std::string_view kProcess = "process-";
constexpr std::string_view kMonth = "month-";
constexpr std::string_view kVersion = ".v1";
constexpr std::size_t kPlaceDigits = 16;
constexpr std::size_t kRandomBytes = 8;

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
  const base::ProcessId self = base::this_process_id();
  if (self.boot_id.empty() || self.pid_namespace == 0) return {};
  base::Sha256 hash;
  hash.update_framed(self.boot_id).update_u64(self.pid_namespace);
  return hash.finish().hex().substr(0, kPlaceDigits);
}

std::string new_process_file() {
  std::array<char, kRandomBytes> random{};
  // Without it the rest still differs from process to process.
  (void)::getrandom(random.data(), random.size(), GRND_NONBLOCK);
  const std::string here = this_place();
  return fmt::format("{}{}-{}-{}-{}{}", kProcess, here.empty() ? "unknown" : here, ::getpid(),
                     base::this_process_id().start_ticks,
                     base::to_hex({random.data(), random.size()}), kVersion);
}

bool has_ended(std::string_view process_file, std::string_view this_place) {
  if (!is_process_file(process_file) || this_place.empty()) return false;
  std::string_view rest = process_file.substr(kProcess.size());
  const std::string_view where = take_word(rest);
  base::ProcessId process = base::this_process_id();
  if (!read_number(take_word(rest), process.pid)) return false;
  if (!read_number(take_word(rest), process.start_ticks)) return false;
  return where == this_place && base::has_certainly_ended(process);
}

}  // namespace precast::stats
