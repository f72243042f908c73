#include "base/private_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>

#include "base/file.h"
#include "base/guard.h"
#include "base/user_folder.h"

namespace precast::base {
namespace {

// Ours, and no one else may write it.
bool is_private(int fd, mode_t type) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == type &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

Fd open_folder(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd && !is_private(fd.get(), S_IFDIR)) return {};
  return fd;
}

void make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    ::mkdir(path.substr(0, slash).c_str(), S_IRWXU);
  }
  ::mkdir(path.c_str(), S_IRWXU);
}

std::optional<Bytes> read_in(const std::string& path, const std::string& file,
                             std::uint64_t max_bytes) {
  const Fd folder = open_folder(path);
  if (!folder) return std::nullopt;
  const Fd fd(::openat(folder.get(), file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd || !is_private(fd.get(), S_IFREG)) return std::nullopt;
  auto bytes = read_all(fd.get(), max_bytes, file);
  if (!bytes) return std::nullopt;
  return std::move(bytes).value();
}

void write_in(const std::string& path, const std::string& file, BytesView bytes) {
  make_folders(path);
  const Fd folder = open_folder(path);
  if (!folder) return;
  static std::atomic<unsigned> count = 0;
  const std::string temporary =
      ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
  const Fd fd(::openat(folder.get(), temporary.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!fd) return;
  // No flush to disk: what a crash cuts short is not whole, and its reader must see that.
  const bool written = write_all(fd.get(), bytes, temporary).has_value() &&
                       ::renameat(folder.get(), temporary.c_str(), folder.get(), file.c_str()) == 0;
  if (!written) ::unlinkat(folder.get(), temporary.c_str(), 0);
}

}  // namespace

PrivateFolder PrivateFolder::of_user(std::string_view name) {
  const std::optional<UserFolder> state = user_state_folder();
  return PrivateFolder(state ? state->path + "/" + std::string(name) : "");
}

std::optional<Bytes> PrivateFolder::read(const std::string& file, std::uint64_t max_bytes) const {
  if (path_.empty()) return std::nullopt;
  auto bytes = std::make_shared<std::optional<Bytes>>();
  const bool answered = do_if_it_answers(
      path_, [bytes, path = path_, file, max_bytes] { *bytes = read_in(path, file, max_bytes); });
  return answered ? std::move(*bytes) : std::nullopt;
}

void PrivateFolder::write(const std::string& file, BytesView bytes) const {
  if (path_.empty()) return;
  do_if_it_answers(path_,
                   [path = path_, file, copy = Bytes(bytes)] { write_in(path, file, copy); });
}

}  // namespace precast::base
