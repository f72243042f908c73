#include "stats/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>
#include <utility>

#include "base/user_folder.h"
#include "stats/snapshot.h"

namespace precast::stats {
namespace {

constexpr const char* kFolder = "stats";
constexpr std::string_view kUnfinished = ".tmp-";

Error failed(const std::string& what, const std::string& path) {
  const int error = errno;
  return base::errno_error(error, what + " '" + path + "'");
}

// Each folder that is missing is made for this user alone.
void make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    ::mkdir(path.substr(0, slash).c_str(), S_IRWXU);
  }
  ::mkdir(path.c_str(), S_IRWXU);
}

bool is_own(const struct stat& status) {
  return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

Result<std::string> folder_path(const std::string& state) {
  if (!state.empty()) return state + "/" + kFolder;
  const std::optional<base::UserFolder> found = base::user_state_folder();
  if (!found) {
    return Error(ErrorCode::invalid_argument,
                 "there is no state folder: set HOME or XDG_STATE_HOME to an absolute path");
  }
  return found->path + "/" + kFolder;
}

Result<std::optional<Folder>> Folder::open(const std::string& state, IfMissing if_missing) {
  PRECAST_ASSIGN(std::string path, folder_path(state));
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  base::Fd fd(::open(path.c_str(), kFlags));
  if (!fd && errno == ENOENT) {
    if (if_missing == IfMissing::nothing) return std::optional<Folder>();
    make_folders(path);
    fd.reset(::open(path.c_str(), kFlags));
  }
  if (!fd) return failed("cannot open the folder of the counters,", path);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return failed("cannot look at", path);
  if (!is_own(status)) {
    return Error(ErrorCode::permission_denied,
                 fmt::format("'{}' belongs to another user or may be written by others; counters "
                             "are kept in a folder of one's own: chmod go-w '{}'",
                             path, path));
  }
  return std::optional<Folder>(Folder(std::move(path), std::move(fd)));
}

Folder::~Folder() {
  // A child that was forked meanwhile has the descriptor too, and with it the lock.
  if (locked_ && fd_) ::flock(fd_.get(), LOCK_UN);
}

Result<std::vector<std::string>> Folder::names() const {
  // readdir() moves a position that all copies of a descriptor share.
  const int own = ::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* listing = own < 0 ? nullptr : ::fdopendir(own);
  if (listing == nullptr) {
    Error error = failed("cannot list", path_);
    if (own >= 0) ::close(own);
    return error;
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(listing)) names.emplace_back(entry->d_name);
  ::closedir(listing);
  return names;
}

bool Folder::has(const std::string& name) const {
  struct stat status{};
  return ::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

std::optional<std::int64_t> Folder::age_s(const std::string& name) const {
  struct stat status{};
  if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return ::time(nullptr) - status.st_mtime;
}

Result<Bytes> Folder::read(const std::string& name) const {
  const base::Fd fd(
      ::openat(fd_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return failed("cannot open", path_ + "/" + name);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || !is_own(status)) {
    return Error(ErrorCode::corrupt, "'" + path_ + "/" + name + "' is no file of this user");
  }
  auto bytes = base::read_all(fd.get(), kMaxFileBytes, name);
  if (bytes) return bytes;
  return Error(ErrorCode::corrupt, bytes.error().message());
}

Result<void> Folder::write(const std::string& name, BytesView bytes, base::Flush flush) const {
  const std::string temporary = std::string(kUnfinished) + name;
  const base::Fd fd(::openat(fd_.get(), temporary.c_str(),
                             O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                             S_IRUSR | S_IWUSR));
  if (!fd) return failed("cannot make", path_ + "/" + temporary);
  Result<void> written = base::write_all(fd.get(), bytes, temporary);
  const bool wait = flush == base::Flush::yes;
  if (written && wait && ::fsync(fd.get()) != 0) written = failed("cannot flush", temporary);
  if (written && !rename(temporary, name)) written = failed("cannot name", path_ + "/" + name);
  if (written && wait && ::fsync(fd_.get()) != 0) return failed("cannot flush", path_);
  if (!written) remove(temporary);
  return written;
}

bool Folder::rename(const std::string& from, const std::string& to) const {
  return ::renameat(fd_.get(), from.c_str(), fd_.get(), to.c_str()) == 0;
}

void Folder::remove(const std::string& name) const { ::unlinkat(fd_.get(), name.c_str(), 0); }

bool Folder::lock(With with, int patience_ms) {
  constexpr int kStepMs = 5;
  const int operation = (with == With::others ? LOCK_SH : LOCK_EX) | LOCK_NB;
  for (int waited = 0;; waited += kStepMs) {
    if (::flock(fd_.get(), operation) == 0) return locked_ = true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    if (waited >= patience_ms) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(kStepMs));
  }
}

}  // namespace precast::stats
