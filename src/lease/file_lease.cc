#include "lease/file_lease.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "base/hash.h"
#include "store/layout.h"
#include "store/trust.h"

namespace precast::lease {
namespace {

using store::uninterrupted;

constexpr mode_t kPrivateFile = 0600;
// How often the end of a lease waits for somebody who looks whether to take it over: 5 ms, then
// twice as long each time, 0.3 s in all.
constexpr int kEndAttempts = 7;
constexpr std::chrono::milliseconds kFirstEndPause{5};
// Whatever a call says, it is made again: a file that stays makes others wait.
constexpr int kUnlinkAttempts = 3;

bool is_unsupported(int error_number) {
  return error_number == EPERM || error_number == EOPNOTSUPP || error_number == ENOSYS ||
         error_number == EINVAL || error_number == EMLINK;
}

Result<void> write_at(store::FileOps& ops, int fd, BytesView bytes, off_t offset,
                      const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t wrote =
        uninterrupted([&] { return ops.pwrite(fd, bytes.data(), bytes.size(), offset); });
    if (wrote < 0) return lease_fault(errno, fmt::format("cannot write '{}'", path));
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
    offset += wrote;
  }
  return {};
}

Bytes read_whole(store::FileOps& ops, int fd) {
  Bytes bytes(kMaxLeaseBytes, '\0');
  std::size_t used = 0;
  while (used < bytes.size()) {
    const ssize_t got = uninterrupted([&] {
      return ops.pread(fd, bytes.data() + used, bytes.size() - used, static_cast<off_t>(used));
    });
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
  }
  bytes.resize(used);
  return bytes;
}

int open_lease(store::FileOps& ops, int folder, const char* name, int flags) {
  return uninterrupted([&] {
    return ops.openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
  });
}

}  // namespace

bool is_same_time(const struct timespec& a, const struct timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

Error lease_fault(int error_number, const std::string& what) {
  if (error_number == ENOENT) {
    return {ErrorCode::unavailable, what + ": its folder was removed while in use"};
  }
  return store::fault(error_number, what);
}

std::optional<bool> leads_to(store::FileOps& ops, int folder, const char* name, dev_t device,
                             ino_t inode) {
  const base::Fd fd(open_lease(ops, folder, name, O_PATH));
  if (!fd) return errno == ENOENT ? std::optional(false) : std::nullopt;
  struct stat status{};
  if (uninterrupted([&] { return ops.fstat(fd.get(), &status); }) != 0) return std::nullopt;
  return status.st_dev == device && status.st_ino == inode;
}

Result<std::optional<Seen>> look(store::FileOps& ops, const store::Folder& folder,
                                 const std::string& name, const Seen* before) {
  const std::string path = folder.path + "/" + name;
  Seen seen;
  seen.fd.reset(open_lease(ops, folder.fd.get(), name.c_str(), O_RDWR));
  const auto refused = [&seen] {
    return !seen.fd && (errno == EACCES || errno == EPERM || errno == EROFS);
  };
  // Who may only read waits as well; locks are for those who may take it over.
  if (refused()) seen.fd.reset(open_lease(ops, folder.fd.get(), name.c_str(), O_RDONLY));
  seen.readable = static_cast<bool>(seen.fd);
  if (refused()) seen.fd.reset(open_lease(ops, folder.fd.get(), name.c_str(), O_PATH));
  if (!seen.fd) {
    if (errno == ENOENT) return std::optional<Seen>();
    if (errno != ELOOP && errno != EISDIR && errno != ENXIO) {
      return lease_fault(errno, fmt::format("cannot open the lease '{}'", path));
    }
    return Error(ErrorCode::permission_denied,
                 fmt::format("'{}' is no file, and in the way of a lease", path));
  }
  if (uninterrupted([&] { return ops.fstat(seen.fd.get(), &seen.status); }) != 0) {
    return lease_fault(errno, fmt::format("cannot examine the lease '{}'", path));
  }
  if (!S_ISREG(seen.status.st_mode)) {
    return Error(ErrorCode::permission_denied,
                 fmt::format("'{}' is no file, and in the way of a lease", path));
  }
  // What strangers could have written is not believed. Silence decides about it.
  if (!store::check_trust(path, seen.status, store::Role::entry)) seen.readable = false;
  if (!seen.readable) return std::optional<Seen>(std::move(seen));
  if (before != nullptr && before->record.owner && before->is_same_file(seen) &&
      before->status.st_size == seen.status.st_size) {
    seen.record = before->record;
  } else {
    seen.record = decode(read_whole(ops, seen.fd.get()));
  }
  return std::optional<Seen>(std::move(seen));
}

Record read_again(store::FileOps& ops, const Seen& seen) {
  return seen.readable ? decode(read_whole(ops, seen.fd.get())) : Record{};
}

FileLease::FileLease(store::FileOps& ops, std::string path, HeldSlot slot)
    : ops_(ops), path_(std::move(path)), slot_(std::move(slot)) {}

Result<std::unique_ptr<FileLease>> FileLease::prepare(store::FileOps& ops,
                                                      const store::Folder& folder,
                                                      const std::string& name, const Owner& owner) {
  std::array<char, 16> random{};
  if (uninterrupted([&] { return ::getrandom(random.data(), random.size(), 0); }) < 0) {
    return store::fault(errno, "cannot get random bytes for a file name");
  }
  const std::string temporary = fmt::format("{}{}-{}", store::kTemporaryPrefix, ::getpid(),
                                            base::to_hex({random.data(), random.size()}));
  base::Fd place(::fcntl(folder.fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!place) return store::fault(errno, fmt::format("cannot use '{}'", folder.path));
  const mode_t mode = kPrivateFile | (folder.status.st_mode & 0044);
  base::Fd fd(uninterrupted([&] {
    return ops.openat(folder.fd.get(), temporary.c_str(),
                      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  }));
  if (!fd) {
    return lease_fault(errno, fmt::format("cannot create a lease in '{}'", folder.path));
  }
  auto slot = HeldSlot::take(std::move(fd), std::move(place), name, temporary);
  if (!slot) {
    uninterrupted([&] { return ops.unlinkat(folder.fd.get(), temporary.c_str()); });
    return std::move(slot).error();
  }
  std::unique_ptr<FileLease> lease(new FileLease(ops, folder.path + "/" + name, *std::move(slot)));
  lease->mode_ = mode;
  lease->record_ = encode(owner);
  const int own = lease->slot_.file().fd;
  PRECAST_TRY(write_at(ops, own, lease->record_, 0, lease->path_));
  struct stat status{};
  if (uninterrupted([&] { return ops.fstat(own, &status); }) != 0) {
    return lease_fault(errno, fmt::format("cannot examine the lease '{}'", lease->path_));
  }
  lease->slot_.set_file(status.st_dev, status.st_ino);
  return lease;
}

FileLease::~FileLease() { end(std::nullopt); }

void FileLease::remove_temporary() {
  const HeldFile& file = slot_.file();
  if (file.temporary[0] == '\0') return;
  for (int attempt = 0; attempt < kUnlinkAttempts; ++attempt) {
    if (ops_.unlinkat(file.folder, file.temporary.data()) == 0) break;
  }
  slot_.forget_temporary();
}

Result<bool> FileLease::link() {
  const HeldFile& file = slot_.file();
  if (uninterrupted(
          [&] { return ops_.linkat(file.folder, file.temporary.data(), file.name.data()); }) == 0) {
    note_linked();
    return true;
  }
  if (errno == EEXIST) return false;
  if (!is_unsupported(errno)) {
    return lease_fault(errno, fmt::format("cannot make the lease '{}'", path_));
  }
  return link_by_rename();
}

Result<bool> FileLease::link_by_rename() {
  const HeldFile& file = slot_.file();
  if (uninterrupted([&] {
        return ops_.renameat2(file.folder, file.temporary.data(), file.folder, file.name.data(),
                              RENAME_NOREPLACE);
      }) == 0) {
    held_ = true;
    slot_.forget_temporary();
    return true;
  }
  if (errno == EEXIST) return false;
  if (!is_unsupported(errno)) {
    return lease_fault(errno, fmt::format("cannot make the lease '{}'", path_));
  }
  return link_by_creating();
}

// Others may see it before it is whole: its owner is not known then, and only its silence could
// make it theirs.
Result<bool> FileLease::link_by_creating() {
  const HeldFile& file = slot_.file();
  base::Fd fd(uninterrupted([&] {
    return ops_.openat(file.folder, file.name.data(),
                       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_);
  }));
  if (!fd) {
    if (errno == EEXIST) return false;
    return lease_fault(errno, fmt::format("cannot create the lease '{}'", path_));
  }
  struct stat status{};
  Result<void> written = write_at(ops_, fd.get(), record_, 0, path_);
  if (written && uninterrupted([&] { return ops_.fstat(fd.get(), &status); }) != 0) {
    written = lease_fault(errno, fmt::format("cannot examine the lease '{}'", path_));
  }
  if (!written) {
    ops_.unlinkat(file.folder, file.name.data());
    return std::move(written).error();
  }
  remove_temporary();
  slot_.replace_fd(std::move(fd), status.st_dev, status.st_ino);
  held_ = true;
  return true;
}

bool FileLease::is(const Seen& seen) const {
  return seen.is_same_file(slot_.file().device, slot_.file().inode);
}

void FileLease::note_linked() {
  held_ = true;
  remove_temporary();
}

Result<struct timespec> FileLease::file_system_time() {
  struct stat status{};
  const int fd = slot_.file().fd;
  if (uninterrupted([&] { return ops_.futimens(fd, nullptr); }) != 0 ||
      uninterrupted([&] { return ops_.fstat(fd, &status); }) != 0) {
    return lease_fault(errno, fmt::format("cannot tell the time where '{}' is", path_));
  }
  return status.st_mtim;
}

Result<FileLease::Taken> FileLease::take_over(const Seen& dead, bool with_lock) {
  if (with_lock && dead.readable) {
    // Whatever else is wrong with locks: it goes without.
    if (uninterrupted([&] { return ops_.flock(dead.fd.get(), LOCK_EX | LOCK_NB); }) != 0 &&
        errno == EWOULDBLOCK) {
      return Taken::busy;
    }
  }
  const HeldFile& file = slot_.file();
  const base::Fd now_fd(open_lease(ops_, file.folder, file.name.data(), O_PATH));
  struct stat now{};
  const bool unchanged =
      now_fd && uninterrupted([&] { return ops_.fstat(now_fd.get(), &now); }) == 0 &&
      dead.is_same_file(now.st_dev, now.st_ino) && is_same_time(now.st_mtim, dead.status.st_mtim);
  Result<Taken> taken = Taken::changed;
  if (unchanged) {
    if (uninterrupted([&] {
          return ops_.renameat(file.folder, file.temporary.data(), file.name.data());
        }) == 0) {
      held_ = true;
      slot_.forget_temporary();
      taken = Taken::yes;
    } else {
      taken = lease_fault(errno, fmt::format("cannot take over the lease '{}'", path_));
    }
  }
  if (dead.readable) ops_.flock(dead.fd.get(), LOCK_UN);
  return taken;
}

Result<void> FileLease::hold(std::chrono::milliseconds period) {
  const std::string folder = path_.substr(0, path_.rfind('/'));
  PRECAST_ASSIGN(beat_, base::Periodic::start(period, [this] { beat(); }, folder));
  return {};
}

void FileLease::beat() {
  if (lost_ || abandoned_) return;
  if (slot_.was_released()) {
    lost_ = true;
    return;
  }
  const HeldFile& file = slot_.file();
  // Its own file, by the descriptor: never that of whoever may have taken over.
  ops_.futimens(file.fd, nullptr);
  if (abandoned_) return;
  const auto still = leads_to(ops_, file.folder, file.name.data(), file.device, file.inode);
  if (still && !*still) lost_ = true;
}

void FileLease::write_ending(const Ending& ending) {
  // A part of it counts as nothing, and then those who wait look for themselves.
  static_cast<void>(
      write_at(ops_, slot_.file().fd, encode(ending), static_cast<off_t>(record_.size()), path_));
}

void FileLease::remove_name() {
  const HeldFile& file = slot_.file();
  std::chrono::milliseconds pause = kFirstEndPause;
  for (int attempt = 0; attempt < kEndAttempts; ++attempt) {
    if (uninterrupted([&] { return ops_.flock(file.fd, LOCK_EX | LOCK_NB); }) == 0 ||
        errno != EWOULDBLOCK) {
      break;
    }
    // Somebody takes it over, and then it is not ours to remove.
    std::this_thread::sleep_for(pause);
    pause *= 2;
  }
  for (int attempt = 0; attempt < kUnlinkAttempts; ++attempt) {
    const auto still = leads_to(ops_, file.folder, file.name.data(), file.device, file.inode);
    if (still.value_or(false) && ops_.unlinkat(file.folder, file.name.data()) == 0) return;
  }
}

void FileLease::Ties::cut() const {
  beat.abandon();
  slot.pass_by();
}

void FileLease::abandon(std::unique_ptr<FileLease> lease) {
  lease->abandoned_ = true;
  lease->ties().cut();
  // A beat may hang in it, so it stays, in a list where it is not lost.
  static std::atomic<FileLease*> last = nullptr;
  FileLease* const kept = lease.release();
  kept->before_ = last.exchange(kept);
}

void FileLease::end(const std::optional<Ending>& ending) {
  beat_.stop();
  if (!slot_.is_of_this_process()) return;
  if (held_) {
    if (ending && !lost_) write_ending(*ending);
    if (!lost_) remove_name();
    held_ = false;
  }
  remove_temporary();
}

}  // namespace precast::lease
