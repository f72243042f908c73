#include "store/file_ops.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

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

ssize_t FileOps::pread(int fd, char* bytes, std::size_t count, off_t offset) {
  return ::pread(fd, bytes, count, offset);
}

ssize_t FileOps::write(int fd, const char* bytes, std::size_t count) {
  return ::write(fd, bytes, count);
}

int FileOps::fsync(int fd) { return ::fsync(fd); }

int FileOps::close(int fd) { return ::close(fd); }

int FileOps::renameat(int folder, const char* from, const char* to) {
  return ::renameat(folder, from, folder, to);
}

int FileOps::renameat2(int from_folder, const char* from, int to_folder, const char* to,
                       unsigned flags) {
  return ::renameat2(from_folder, from, to_folder, to, flags);
}

int FileOps::unlinkat(int folder, const char* name) { return ::unlinkat(folder, name, 0); }

int FileOps::rmdirat(int folder, const char* name) {
  return ::unlinkat(folder, name, AT_REMOVEDIR);
}

int FileOps::linkat(int folder, const char* from, const char* to) {
  return ::linkat(folder, from, folder, to, 0);
}

int FileOps::flock(int fd, int operation) { return ::flock(fd, operation); }

int FileOps::futimens(int fd, const struct timespec times[2]) { return ::futimens(fd, times); }

int FileOps::ftruncate(int fd, off_t size) { return ::ftruncate(fd, size); }

ssize_t FileOps::pwrite(int fd, const char* bytes, std::size_t count, off_t offset) {
  return ::pwrite(fd, bytes, count, offset);
}

int FileOps::fstatfs(int fd, struct statfs* status) { return ::fstatfs(fd, status); }

int FileOps::readdir(int fd, std::vector<std::string>& names) {
  // closedir() closes what it was given.
  const int own = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return -1;
  DIR* folder = ::fdopendir(own);
  if (folder == nullptr) {
    const int error = errno;
    ::close(own);
    errno = error;
    return -1;
  }
  errno = 0;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  const int error = errno;
  ::closedir(folder);
  errno = error;
  return error == 0 ? 0 : -1;
}

namespace {

FileOps the_kernels;

}  // namespace

FileOps& posix_file_ops() { return the_kernels; }

}  // namespace precast::store
