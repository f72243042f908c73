// CountingOps: system calls that say when they have returned, so that a slow store can be told from
// one that hangs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/guard.h"
#include "store/file_ops.h"

namespace precast::store {

// No call moves more, so that each returns soon even where little goes through.
inline constexpr std::size_t kMaxCountedBytes = std::size_t{4} << 20;
// Flushing what was written may take as long as this many bytes a second take, beyond the silence
// that every call is given.
inline constexpr std::uint64_t kSlowestFlushBytesPerSecond = 10'000'000;

using base::Progress;

// Passes every call on. Thread-safe if `inner` is, which must outlive this.
class CountingOps : public FileOps {
 public:
  explicit CountingOps(FileOps& inner) : inner_(inner) {}

  int openat(int folder, const char* name, int flags, mode_t mode) override;
  int fstat(int fd, struct stat* status) override;
  ssize_t readlinkat(int folder, const char* name, char* target, std::size_t size) override;
  int mkdirat(int folder, const char* name, mode_t mode) override;
  ssize_t pread(int fd, char* bytes, std::size_t count, off_t offset) override;
  ssize_t write(int fd, const char* bytes, std::size_t count) override;
  int fsync(int fd) override;
  int close(int fd) override;
  int renameat(int folder, const char* from, const char* to) override;
  int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                unsigned flags) override;
  int unlinkat(int folder, const char* name) override;
  int rmdirat(int folder, const char* name) override;
  int linkat(int folder, const char* from, const char* to) override;
  int flock(int fd, int operation) override;
  int futimens(int fd, const struct timespec times[2]) override;
  int ftruncate(int fd, off_t size) override;
  ssize_t pwrite(int fd, const char* bytes, std::size_t count, off_t offset) override;
  int fstatfs(int fd, struct statfs* status) override;
  int readdir(int fd, std::vector<std::string>& names) override;

 private:
  FileOps& inner_;
};

}  // namespace precast::store
