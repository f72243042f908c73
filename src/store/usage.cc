#include "store/usage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <array>
#include <cctype>
#include <charconv>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "store/trust.h"

namespace precast::store {
namespace {

constexpr std::size_t kBytes = 6 + 20 + 9 + 20 + 1;
constexpr mode_t kPrivateFile = 0600;

std::string path_of(const Folder& layout) { return layout.path + "/" + kUsage; }

std::string text_of(const Usage& usage) {
  return fmt::format("bytes {:020} entries {:020}\n", usage.bytes, usage.entries);
}

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<Usage> parse(std::string_view text) {
  if (text.size() != kBytes || !text.starts_with("bytes ") || text.substr(26, 9) != " entries ") {
    return std::nullopt;
  }
  const auto bytes = number(text.substr(6, 20));
  const auto entries = number(text.substr(35, 20));
  if (!bytes || !entries) return std::nullopt;
  return Usage{*bytes, *entries};
}

// The file, or no descriptor when it is missing and shall not be made.
Result<base::Fd> open_usage(FileOps& ops, const Folder& layout, int flags) {
  base::Fd fd(uninterrupted([&] {
    return ops.openat(layout.fd.get(), kUsage,
                      flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, kPrivateFile);
  }));
  if (!fd) {
    if (errno == ENOENT && (flags & O_CREAT) == 0) return fd;
    return fault(errno, fmt::format("cannot open '{}'", path_of(layout)));
  }
  struct stat status{};
  if (uninterrupted([&] { return ops.fstat(fd.get(), &status); }) != 0) {
    return fault(errno, fmt::format("cannot examine '{}'", path_of(layout)));
  }
  PRECAST_TRY(check_trust(path_of(layout), status, Role::entry));
  return fd;
}

Result<std::optional<Usage>> read_from(FileOps& ops, const Folder& layout, int fd) {
  std::array<char, kBytes + 1> text{};
  const ssize_t got = uninterrupted([&] { return ops.pread(fd, text.data(), text.size(), 0); });
  if (got < 0) return fault(errno, fmt::format("cannot read '{}'", path_of(layout)));
  return parse({text.data(), static_cast<std::size_t>(got)});
}

Result<void> write_to(FileOps& ops, const Folder& layout, int fd, const Usage& usage) {
  const std::string text = text_of(usage);
  const ssize_t wrote = uninterrupted([&] { return ops.pwrite(fd, text.data(), text.size(), 0); });
  if (wrote < 0) return fault(errno, fmt::format("cannot write '{}'", path_of(layout)));
  // Whatever was behind it does not belong there. What was cut short is no number, and is counted
  // again.
  if (uninterrupted([&] { return ops.ftruncate(fd, kBytes); }) != 0) {
    return fault(errno, fmt::format("cannot cut '{}'", path_of(layout)));
  }
  return {};
}

// Whether the lock is ours. Others hold it for microseconds, unless they are stopped: nobody waits
// for them for longer than a publish takes anyway. Where there are no locks, writers may lose each
// other's additions, and the next collection finds out.
bool lock(FileOps& ops, int fd) {
  constexpr int kTries = 40;
  constexpr struct timespec kPause = {0, 500'000};
  for (int i = 0; i < kTries; ++i) {
    if (uninterrupted([&] { return ops.flock(fd, LOCK_EX | LOCK_NB); }) == 0) return true;
    if (errno != EWOULDBLOCK) return true;
    ::nanosleep(&kPause, nullptr);
  }
  return false;
}

}  // namespace

Result<std::optional<Usage>> read_usage(FileOps& ops, const Folder& layout) {
  PRECAST_ASSIGN(const base::Fd fd, open_usage(ops, layout, O_RDONLY));
  if (!fd) return std::optional<Usage>();
  return read_from(ops, layout, fd.get());
}

Result<void> write_usage(FileOps& ops, const Folder& layout, const Usage& usage) {
  PRECAST_ASSIGN(const base::Fd fd, open_usage(ops, layout, O_RDWR | O_CREAT));
  lock(ops, fd.get());
  return write_to(ops, layout, fd.get(), usage);
}

Result<std::optional<Usage>> add_usage(FileOps& ops, const Folder& layout, const Usage& more) {
  PRECAST_ASSIGN(const base::Fd fd, open_usage(ops, layout, O_RDWR));
  if (!fd) return std::optional<Usage>();
  const bool locked = lock(ops, fd.get());
  PRECAST_ASSIGN(const std::optional<Usage> before, read_from(ops, layout, fd.get()));
  if (!before) return std::optional<Usage>();
  const Usage sum{before->bytes + more.bytes, before->entries + more.entries};
  if (locked) PRECAST_TRY(write_to(ops, layout, fd.get(), sum));
  return std::optional(sum);
}

}  // namespace precast::store
