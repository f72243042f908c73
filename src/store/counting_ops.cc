#include "store/counting_ops.h"

#include <algorithm>

namespace precast::store {
namespace {

template <typename Call>
auto counted(Call call) {
  const auto result = call();
  if (Progress* current = Progress::here(); current != nullptr) current->moved();
  return result;
}

ssize_t noted(ssize_t written) {
  // A flush of the folder may wait for the file's bytes too.
  Progress* current = Progress::here();
  if (written > 0 && current != nullptr) current->written += static_cast<std::uint64_t>(written);
  return written;
}

// What flushes may take long; closing a file flushes it on a network.
class Flushing {
 public:
  Flushing() {
    constexpr std::uint64_t kMsPerSecond = 1000;
    Progress* current = Progress::here();
    if (current == nullptr) return;
    const std::uint64_t ms = current->written / (kSlowestFlushBytesPerSecond / kMsPerSecond);
    current->allow(std::chrono::milliseconds(ms));
  }
  Flushing(const Flushing&) = delete;
  Flushing& operator=(const Flushing&) = delete;
  ~Flushing() {
    if (Progress* current = Progress::here(); current != nullptr)
      current->allow(std::chrono::milliseconds(0));
  }
};

}  // namespace

int CountingOps::openat(int folder, const char* name, int flags, mode_t mode) {
  return counted([&] { return inner_.openat(folder, name, flags, mode); });
}

int CountingOps::fstat(int fd, struct stat* status) {
  return counted([&] { return inner_.fstat(fd, status); });
}

ssize_t CountingOps::readlinkat(int folder, const char* name, char* target, std::size_t size) {
  return counted([&] { return inner_.readlinkat(folder, name, target, size); });
}

int CountingOps::mkdirat(int folder, const char* name, mode_t mode) {
  return counted([&] { return inner_.mkdirat(folder, name, mode); });
}

ssize_t CountingOps::pread(int fd, char* bytes, std::size_t count, off_t offset) {
  return counted(
      [&] { return inner_.pread(fd, bytes, std::min(count, kMaxCountedBytes), offset); });
}

ssize_t CountingOps::write(int fd, const char* bytes, std::size_t count) {
  return noted(counted([&] { return inner_.write(fd, bytes, std::min(count, kMaxCountedBytes)); }));
}

ssize_t CountingOps::pwrite(int fd, const char* bytes, std::size_t count, off_t offset) {
  return noted(
      counted([&] { return inner_.pwrite(fd, bytes, std::min(count, kMaxCountedBytes), offset); }));
}

int CountingOps::fsync(int fd) {
  const Flushing flushing;
  return counted([&] { return inner_.fsync(fd); });
}

int CountingOps::close(int fd) {
  const Flushing flushing;
  return counted([&] { return inner_.close(fd); });
}

int CountingOps::renameat(int folder, const char* from, const char* to) {
  return counted([&] { return inner_.renameat(folder, from, to); });
}

int CountingOps::renameat2(int from_folder, const char* from, int to_folder, const char* to,
                           unsigned flags) {
  return counted([&] { return inner_.renameat2(from_folder, from, to_folder, to, flags); });
}

int CountingOps::unlinkat(int folder, const char* name) {
  return counted([&] { return inner_.unlinkat(folder, name); });
}

int CountingOps::rmdirat(int folder, const char* name) {
  return counted([&] { return inner_.rmdirat(folder, name); });
}

int CountingOps::linkat(int folder, const char* from, const char* to) {
  return counted([&] { return inner_.linkat(folder, from, to); });
}

int CountingOps::flock(int fd, int operation) {
  return counted([&] { return inner_.flock(fd, operation); });
}

int CountingOps::futimens(int fd, const struct timespec times[2]) {
  return counted([&] { return inner_.futimens(fd, times); });
}

int CountingOps::ftruncate(int fd, off_t size) {
  return counted([&] { return inner_.ftruncate(fd, size); });
}

int CountingOps::fstatfs(int fd, struct statfs* status) {
  return counted([&] { return inner_.fstatfs(fd, status); });
}

int CountingOps::readdir(int fd, std::vector<std::string>& names) {
  return counted([&] { return inner_.readdir(fd, names); });
}

}  // namespace precast::store
