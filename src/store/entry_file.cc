#include "store/entry_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "precast/limits.h"
#include "store/layout.h"
#include "store/listing.h"
#include "store/trust.h"

namespace precast::store {
namespace {

// Linux moves at most 2 GiB in one call.
constexpr std::size_t kMaxTransferBytes = std::size_t{1} << 30;
constexpr mode_t kPrivateFile = 0600;

struct Temporary {
  int fd = -1;
  std::string name;
};

// Memory for a whole entry. A store entry must not be able to end the process by its size.
Result<Bytes> buffer_of(std::size_t size, const std::string& path) {
  try {
    return Bytes(size, '\0');
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::resource_exhausted,
                 fmt::format("no memory for the {} bytes of '{}'", size, path));
  }
}

Error cut_short(const std::string& path, std::uint64_t from, std::uint64_t to) {
  return {ErrorCode::corrupt,
          fmt::format("'{}' was cut short from {} to {} bytes while it was read; entries are only "
                      "ever replaced as a whole",
                      path, from, to)};
}

// ENOENT for something that was there a moment ago: somebody removes the cache while it is used.
Error write_fault(int error_number, const std::string& what) {
  if (error_number == ENOENT) {
    return {ErrorCode::unavailable, what + ": its folder was removed while in use"};
  }
  return fault(error_number, what);
}

Result<Temporary> create_temporary(FileOps& ops, const Folder& folder) {
  PRECAST_ASSIGN(const std::string random, random_name_part());
  Temporary temporary;
  temporary.name = fmt::format("{}{}-{}", kTemporaryPrefix, ::getpid(), random);
  const mode_t mode = kPrivateFile | (folder.status.st_mode & 0044);
  temporary.fd = uninterrupted([&] {
    return ops.openat(folder.fd.get(), temporary.name.c_str(),
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  });
  if (temporary.fd < 0) {
    return write_fault(errno, fmt::format("cannot create a file in '{}'", folder.path));
  }
  return temporary;
}

Result<void> write_and_flush(FileOps& ops, int fd, BytesView bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t wrote = uninterrupted(
        [&] { return ops.write(fd, bytes.data(), std::min(bytes.size(), kMaxTransferBytes)); });
    if (wrote < 0) return fault(errno, fmt::format("cannot write '{}'", path));
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (uninterrupted([&] { return ops.fsync(fd); }) != 0) {
    return fault(errno, fmt::format("cannot flush '{}' to disk", path));
  }
  return {};
}

// Fills the temporary file and closes it. The first error counts; the file is closed in any case.
Result<void> fill(FileOps& ops, int fd, BytesView bytes, const std::string& path) {
  Result<void> written = write_and_flush(ops, fd, bytes, path);
  // Linux closes the descriptor even when a signal interrupts close().
  if (ops.close(fd) != 0 && errno != EINTR && written) {
    return fault(errno, fmt::format("cannot close '{}'", path));
  }
  return written;
}

Result<void> flush_folder(FileOps& ops, const Folder& folder) {
  const base::Fd fd(uninterrupted(
      [&] { return ops.openat(folder.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0); }));
  if (!fd) return write_fault(errno, fmt::format("cannot open '{}' to flush it", folder.path));
  if (uninterrupted([&] { return ops.fsync(fd.get()); }) == 0) return {};
  // Some file systems have nothing to flush for a folder, and say so.
  if (errno == EINVAL || errno == EOPNOTSUPP) return {};
  return fault(errno, fmt::format("cannot flush '{}' to disk", folder.path));
}

// An entry's place: what is there, opened for reading unless it can be no entry.
struct Place {
  base::Fd fd;
  struct stat status{};
  std::optional<Error> corrupt;
};

// Reading must not change when it was last used: our stamps do (DirectoryStore::used()). Only the
// owner may ask for that.
int open_to_read(FileOps& ops, const Folder& folder, const std::string& name) {
  // O_NONBLOCK and O_NOCTTY: should this be a pipe or a terminal, it must not block or take hold.
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const auto open_with = [&](int flags) {
    return uninterrupted(
        [&] { return ops.openat(folder.fd.get(), name.c_str(), kFlags | flags, 0); });
  };
  if (folder.status.st_uid != ::geteuid()) return open_with(0);
  const int fd = open_with(O_NOATIME);
  return fd < 0 && errno == EPERM ? open_with(0) : fd;
}

Error no_regular_file(const std::string& path, const struct stat& status) {
  const char* what = S_ISDIR(status.st_mode)    ? "a folder"
                     : S_ISLNK(status.st_mode)  ? "a symbolic link, and none is followed here"
                     : S_ISFIFO(status.st_mode) ? "a pipe"
                     : S_ISSOCK(status.st_mode) ? "a socket"
                                                : "a device";
  return {ErrorCode::corrupt, fmt::format("'{}' is no entry but {}", path, what)};
}

// Links and sockets cannot be opened for reading; what they are can be asked.
Result<std::optional<Place>> place_not_opened(FileOps& ops, const Folder& folder,
                                              const std::string& name) {
  const int error = errno;
  const std::string path = folder.path + "/" + name;
  if (error == ENOENT) return std::optional<Place>();
  if (error != ELOOP && error != ENXIO && error != ENODEV) {
    return fault(error, fmt::format("cannot open '{}'", path));
  }
  PRECAST_ASSIGN(const std::optional<struct stat> status, look_at(ops, folder, name));
  if (!status) return std::optional<Place>();
  // Replaced since: the next look finds what is there now.
  if (S_ISREG(status->st_mode)) return fault(error, fmt::format("cannot open '{}'", path));
  Place place;
  place.status = *status;
  place.corrupt = no_regular_file(path, *status);
  return std::optional<Place>(std::move(place));
}

Result<std::optional<Place>> open_place(FileOps& ops, const Folder& folder,
                                        const std::string& name) {
  const std::string path = folder.path + "/" + name;
  Place place;
  place.fd.reset(open_to_read(ops, folder, name));
  if (!place.fd) return place_not_opened(ops, folder, name);
  if (uninterrupted([&] { return ops.fstat(place.fd.get(), &place.status); }) != 0) {
    return fault(errno, fmt::format("cannot examine '{}'", path));
  }
  if (!S_ISREG(place.status.st_mode)) {
    place.corrupt = no_regular_file(path, place.status);
    return std::optional<Place>(std::move(place));
  }
  PRECAST_TRY(check_trust(path, place.status, Role::entry));
  const std::uint64_t bytes = identity_of(place.status).bytes;
  if (bytes > limits::kMaxArtifactBytes) {
    place.corrupt =
        Error(ErrorCode::corrupt,
              fmt::format("'{}' has {} bytes, more than an entry may have ({}, kMaxArtifactBytes)",
                          path, bytes, limits::kMaxArtifactBytes));
  }
  return std::optional<Place>(std::move(place));
}

}  // namespace

FileIdentity identity_of(const struct stat& status) {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .bytes = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0)),
          .modified_ns = status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec};
}

Result<std::string> random_name_part() {
  std::array<char, 16> random{};
  if (uninterrupted([&] { return ::getrandom(random.data(), random.size(), 0); }) < 0) {
    return fault(errno, "cannot get random bytes for a file name");
  }
  return base::to_hex({random.data(), random.size()});
}

FileIdentity EntryFile::identity() const { return identity_of(status_); }

Result<FileIdentity> EntryFile::identity_now() const {
  struct stat status{};
  if (uninterrupted([&] { return ops_->fstat(fd_.get(), &status); }) != 0) {
    return fault(errno, fmt::format("cannot examine '{}'", path_));
  }
  return identity_of(status);
}

std::uint64_t EntryFile::bytes() const { return identity_of(status_).bytes; }

Result<Bytes> EntryFile::read(std::uint64_t offset, std::uint64_t size) const {
  PRECAST_ASSIGN(Bytes bytes, buffer_of(size, path_));
  std::size_t used = 0;
  while (used < bytes.size()) {
    const ssize_t got = uninterrupted([&] {
      return ops_->pread(fd_.get(), bytes.data() + used,
                         std::min(bytes.size() - used, kMaxTransferBytes),
                         static_cast<off_t>(offset + used));
    });
    if (got < 0) return fault(errno, fmt::format("cannot read '{}'", path_));
    if (got == 0) return cut_short(path_, offset + size, offset + used);
    used += static_cast<std::size_t>(got);
  }
  return bytes;
}

Result<std::optional<EntryFile>> open_entry_file(FileOps& ops, const Folder& folder,
                                                 const std::string& name) {
  PRECAST_ASSIGN(std::optional<Place> place, open_place(ops, folder, name));
  if (!place) return std::optional<EntryFile>();
  if (place->corrupt) return *std::move(place->corrupt);
  return std::optional<EntryFile>(
      EntryFile(ops, std::move(place->fd), folder.path + "/" + name, place->status));
}

Result<std::optional<Fetched>> read_entry(FileOps& ops, const Folder& folder,
                                          const std::string& name) {
  PRECAST_ASSIGN(std::optional<Place> place, open_place(ops, folder, name));
  if (!place) return std::optional<Fetched>();
  if (place->corrupt) {
    return std::optional<Fetched>({identity_of(place->status), 0, *std::move(place->corrupt)});
  }
  const EntryFile file(ops, std::move(place->fd), folder.path + "/" + name, place->status);
  Fetched fetched{file.identity(), file.used_unix_s(), file.read(0, file.bytes())};
  if (!fetched.bytes) {
    if (fetched.bytes.error().code() != ErrorCode::corrupt) return std::move(fetched.bytes).error();
    PRECAST_ASSIGN(fetched.identity, file.identity_now());
  }
  return std::optional<Fetched>(std::move(fetched));
}

Result<bool> stamp_use(FileOps& ops, const Folder& folder, const std::string& name,
                       const FileIdentity& identity) {
  PRECAST_ASSIGN(const std::optional<Place> place, open_place(ops, folder, name));
  if (!place || place->corrupt || identity_of(place->status) != identity) return false;
  const std::array<struct timespec, 2> times = {{{0, UTIME_NOW}, {0, UTIME_OMIT}}};
  if (uninterrupted([&] { return ops.futimens(place->fd.get(), times.data()); }) == 0) return true;
  return fault(errno, fmt::format("cannot stamp the use of '{}/{}'", folder.path, name));
}

Result<void> write_entry(FileOps& ops, const Folder& folder, const std::string& name,
                         BytesView bytes) {
  const std::string path = folder.path + "/" + name;
  PRECAST_ASSIGN(const Temporary temporary, create_temporary(ops, folder));
  Result<void> written = fill(ops, temporary.fd, bytes, path);
  if (written && uninterrupted([&] {
                   return ops.renameat(folder.fd.get(), temporary.name.c_str(), name.c_str());
                 }) != 0) {
    written = write_fault(errno, fmt::format("cannot rename a new file to '{}'", path));
  }
  if (!written) {
    // The first error is what matters; a file that cannot be removed either is only litter.
    uninterrupted([&] { return ops.unlinkat(folder.fd.get(), temporary.name.c_str()); });
    return written;
  }
  return flush_folder(ops, folder);
}

}  // namespace precast::store
