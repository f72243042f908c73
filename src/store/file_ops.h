// FileOps: the system calls of the directory store, one method for each.
//
// The default implementation is the kernel's. Tests derive from it to make the Nth call fail, to
// cut writes short or to let a file look as if it had another owner.
#pragma once

#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <ctime>
#include <string>
#include <vector>

namespace precast::store {

// Each method means what the system call of its name means, errno included. Thread-safe.
class FileOps {
 public:
  virtual ~FileOps() = default;

  virtual int openat(int folder, const char* name, int flags, mode_t mode);
  virtual int fstat(int fd, struct stat* status);
  virtual ssize_t readlinkat(int folder, const char* name, char* target, std::size_t size);
  virtual int mkdirat(int folder, const char* name, mode_t mode);
  virtual ssize_t pread(int fd, char* bytes, std::size_t count, off_t offset);
  virtual ssize_t write(int fd, const char* bytes, std::size_t count);
  virtual int fsync(int fd);
  virtual int close(int fd);
  // Both names are in the same folder.
  virtual int renameat(int folder, const char* from, const char* to);
  // Across folders, with the flags of renameat2(). ENOSYS and EINVAL where the file system knows
  // no flags.
  virtual int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                        unsigned flags);
  virtual int unlinkat(int folder, const char* name);
  virtual int rmdirat(int folder, const char* name);
  // A second name of a file in the same folder.
  virtual int linkat(int folder, const char* from, const char* to);
  virtual int flock(int fd, int operation);
  virtual int futimens(int fd, const struct timespec times[2]);
  virtual int ftruncate(int fd, off_t size);
  virtual ssize_t pwrite(int fd, const char* bytes, std::size_t count, off_t offset);
  virtual int fstatfs(int fd, struct statfs* status);
  // The names in a folder that is open for reading, but "." and "..", in the file system's order:
  // readdir() to its end. On a fault -1, with what was read so far.
  virtual int readdir(int fd, std::vector<std::string>& names);
};

// The kernel's.
FileOps& posix_file_ops();

// Calls `call` again for as long as a signal interrupts it.
template <typename Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace precast::store
