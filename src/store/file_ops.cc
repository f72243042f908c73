#include "store/file_ops.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace precast::store {

int FileOps::openat(int folder, const char* name, int flags, mode_t mode) {
  return ::openat(folder, name, flags, mode);
}

int FileOps::fstat(int fd, struct stat* status) { return ::fstat(fd, status); }

ssize_t FileOps::readlinkat(int folder, const char* name, char* target, std::size_t size) {
  return ::readlinkat(folder, name, target, size);
}

int FileOps::mkdirat(int folder, const char* name, mode_t mode) {
  return ::mkdirat(folder, name, mode);
}

ssize_t FileOps::read(int fd, char* bytes, std::size_t count) { return ::read(fd, bytes, count); }

ssize_t FileOps::write(int fd, const char* bytes, std::size_t count) {
  return ::write(fd, bytes, count);
}

int FileOps::fsync(int fd) { return ::fsync(fd); }

int FileOps::close(int fd) { return ::close(fd); }

int FileOps::renameat(int folder, const char* from, const char* to) {
  return ::renameat(folder, from, folder, to);
}

int FileOps::unlinkat(int folder, const char* name) { return ::unlinkat(folder, name, 0); }

FileOps& posix_file_ops() {
  static FileOps ops;
  return ops;
}

}  // namespace precast::store
