// precast_fuse_fs SOURCE MOUNT_POINT CONTROL: shows the folder SOURCE at MOUNT_POINT, and does
// wrong what the file CONTROL says (README.md). Stays in the foreground; ends when it is unmounted
// or killed. As root it acts with the rights of whoever calls.
#define FUSE_USE_VERSION 35
#include <dirent.h>
#include <fcntl.h>
#include <fuse.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "testing/fuse_fs/control.h"

namespace precast::fuse_fs {
namespace {

int source = -1;
Control* control = nullptr;

// New files belong to the caller, and the caller's rights decide.
class AsCaller {
 public:
  AsCaller() {
    ::setfsgid(::fuse_get_context()->gid);
    ::setfsuid(::fuse_get_context()->uid);
  }
  AsCaller(const AsCaller&) = delete;
  AsCaller& operator=(const AsCaller&) = delete;
  ~AsCaller() {
    ::setfsuid(::geteuid());
    ::setfsgid(::getegid());
  }
};

template <typename Call>
int act(const char* operation, Call call) {
  if (const int error = control->fault(operation); error != 0) return -error;
  const AsCaller caller;
  const auto result = call();
  return result < 0 ? -errno : static_cast<int>(result);
}

const char* below(const char* path) { return path[1] == '\0' ? "." : path + 1; }
int fd_of(const fuse_file_info* info) { return static_cast<int>(info->fh); }

int fs_getattr(const char* path, struct stat* status, fuse_file_info* info) {
  return act("getattr", [&] {
    return info != nullptr ? ::fstat(fd_of(info), status)
                           : ::fstatat(source, below(path), status, AT_SYMLINK_NOFOLLOW);
  });
}

int fs_readlink(const char* path, char* target, std::size_t size) {
  return act("readlink", [&] {
    const ssize_t got = ::readlinkat(source, below(path), target, size - 1);
    if (got >= 0) target[got] = '\0';
    return got < 0 ? -1 : 0;
  });
}

int fs_mkdir(const char* path, mode_t mode) {
  return act("mkdir", [&] { return ::mkdirat(source, below(path), mode); });
}

int fs_unlink(const char* path) {
  return act("unlink", [&] { return ::unlinkat(source, below(path), 0); });
}

int fs_rmdir(const char* path) {
  return act("rmdir", [&] { return ::unlinkat(source, below(path), AT_REMOVEDIR); });
}

int fs_symlink(const char* target, const char* path) {
  return act("symlink", [&] { return ::symlinkat(target, source, below(path)); });
}

int fs_rename(const char* from, const char* to, unsigned flags) {
  return act("rename", [&] { return ::renameat2(source, below(from), source, below(to), flags); });
}

int fs_link(const char* from, const char* to) {
  return act("link", [&] { return ::linkat(source, below(from), source, below(to), 0); });
}

int fs_chmod(const char* path, mode_t mode, fuse_file_info*) {
  return act("chmod", [&] { return ::fchmodat(source, below(path), mode, 0); });
}

int fs_chown(const char* path, uid_t user, gid_t group, fuse_file_info*) {
  return act("chown",
             [&] { return ::fchownat(source, below(path), user, group, AT_SYMLINK_NOFOLLOW); });
}

int fs_truncate(const char* path, off_t size, fuse_file_info* info) {
  return act("truncate", [&] {
    if (info != nullptr) return ::ftruncate(fd_of(info), size);
    const int fd = ::openat(source, below(path), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    const int result = ::ftruncate(fd, size);
    ::close(fd);
    return result;
  });
}

int fs_utimens(const char* path, const timespec* times, fuse_file_info* info) {
  return act("utimens", [&] {
    return info != nullptr ? ::futimens(fd_of(info), times)
                           : ::utimensat(source, below(path), times, AT_SYMLINK_NOFOLLOW);
  });
}

int open_as(const char* operation, const char* path, mode_t mode, fuse_file_info* info) {
  return act(operation, [&] {
    // The kernel resolved links already, and none may be followed on this side.
    const int fd = ::openat(source, below(path), info->flags | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0) info->fh = static_cast<std::uint64_t>(fd);
    return fd < 0 ? -1 : 0;
  });
}

int fs_open(const char* path, fuse_file_info* info) { return open_as("open", path, 0, info); }

int fs_create(const char* path, mode_t mode, fuse_file_info* info) {
  return open_as("create", path, mode, info);
}

int fs_read(const char*, char* bytes, std::size_t size, off_t offset, fuse_file_info* info) {
  return act("read", [&] { return ::pread(fd_of(info), bytes, size, offset); });
}

int fs_write(const char*, const char* bytes, std::size_t size, off_t offset, fuse_file_info* info) {
  return act("write", [&] { return ::pwrite(fd_of(info), bytes, size, offset); });
}

int fs_statfs(const char*, struct statvfs* facts) {
  return act("statfs", [&] { return ::fstatvfs(source, facts); });
}

// At close(): here a file system says that it could not keep what was written.
int fs_flush(const char*, fuse_file_info*) {
  return act("flush", [] { return 0; });
}

int fs_release(const char*, fuse_file_info* info) { return ::close(fd_of(info)); }

int fs_fsync(const char*, int data_only, fuse_file_info* info) {
  return act("fsync",
             [&] { return data_only != 0 ? ::fdatasync(fd_of(info)) : ::fsync(fd_of(info)); });
}

int fs_fsyncdir(const char*, int, fuse_file_info*) {
  return act("fsyncdir", [] { return 0; });
}

int fs_readdir(const char* path, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*,
               fuse_readdir_flags) {
  return act("readdir", [&] {
    const int fd = ::openat(source, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* folder = fd < 0 ? nullptr : ::fdopendir(fd);
    if (folder == nullptr) {
      const int error = errno;
      if (fd >= 0) ::close(fd);
      errno = error;
      return -1;
    }
    while (const dirent* entry = ::readdir(folder)) {
      if (fill(buffer, entry->d_name, nullptr, 0, static_cast<fuse_fill_dir_flags>(0)) != 0) break;
    }
    ::closedir(folder);
    return 0;
  });
}

int fs_flock(const char*, fuse_file_info* info, int operation) {
  return act("flock", [&] { return ::flock(fd_of(info), operation); });
}

// Every operation comes here and every fault is seen: the kernel keeps nothing.
void* fs_init(fuse_conn_info*, fuse_config* config) {
  config->attr_timeout = 0;
  config->entry_timeout = 0;
  config->negative_timeout = 0;
  config->direct_io = 1;
  config->use_ino = 1;
  config->hard_remove = 1;
  config->intr = 1;
  config->intr_signal = SIGUSR1;
  return nullptr;
}

fuse_operations operations() {
  fuse_operations all{};
  all.init = fs_init;
  all.getattr = fs_getattr;
  all.readlink = fs_readlink;
  all.mkdir = fs_mkdir;
  all.unlink = fs_unlink;
  all.rmdir = fs_rmdir;
  all.symlink = fs_symlink;
  all.rename = fs_rename;
  all.link = fs_link;
  all.chmod = fs_chmod;
  all.chown = fs_chown;
  all.truncate = fs_truncate;
  all.utimens = fs_utimens;
  all.open = fs_open;
  all.create = fs_create;
  all.read = fs_read;
  all.write = fs_write;
  all.statfs = fs_statfs;
  all.flush = fs_flush;
  all.release = fs_release;
  all.fsync = fs_fsync;
  all.fsyncdir = fs_fsyncdir;
  all.readdir = fs_readdir;
  all.flock = fs_flock;
  return all;
}

}  // namespace
}  // namespace precast::fuse_fs

int main(int argc, char** argv) {
  using namespace precast::fuse_fs;
  if (argc != 4) {
    std::fprintf(stderr, "usage: precast_fuse_fs SOURCE MOUNT_POINT CONTROL\n");
    return 2;
  }
  source = ::open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (source < 0) {
    std::fprintf(stderr, "fuse_fs: '%s': %s\n", argv[1], std::strerror(errno));
    return 1;
  }
  Control rules(argv[3]);
  control = &rules;
  // libfuse tells a thread by this signal that its caller gave up; the flag alone is enough here.
  sigset_t interrupts;
  ::sigemptyset(&interrupts);
  ::sigaddset(&interrupts, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);
  ::umask(0);  // The kernel took the caller's umask off already.
  std::string options = "-osubtype=precast,default_permissions";
  if (::geteuid() == 0) options += ",allow_other";
  std::string foreground = "-f";
  std::array<char*, 5> words = {argv[0], foreground.data(), options.data(), argv[2], nullptr};
  const fuse_operations all = operations();
  return ::fuse_main(4, words.data(), &all, nullptr);
}
