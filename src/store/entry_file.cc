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
  return {ErrorCode::io_error,
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
  std::array<char, 16> random{};
  if (uninterrupted([&] { return ::getrandom(random.data(), random.size(), 0); }) < 0) {
    return fault(errno, "cannot get random bytes for a file name");
  }
  Temporary temporary;
  temporary.name = fmt::format("{}{}-{}", kTemporaryPrefix, ::getpid(),
                               base::to_hex({random.data(), random.size()}));
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

}  // namespace

std::uint64_t EntryFile::bytes() const {
  return static_cast<std::uint64_t>(std::max<off_t>(status_.st_size, 0));
}

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
  const std::string path = folder.path + "/" + name;
  // O_NONBLOCK and O_NOCTTY: should this be a pipe or a terminal, it must not block or take hold.
  base::Fd fd(uninterrupted([&] {
    return ops.openat(folder.fd.get(), name.c_str(),
                      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
  }));
  if (!fd) {
    if (errno == ENOENT) return std::optional<EntryFile>();
    if (errno == ELOOP) {
      return Error(ErrorCode::permission_denied,
                   fmt::format("'{}' is a symbolic link, and none is followed inside a cache; run: "
                               "rm {}",
                               path, shell_quoted(path)));
    }
    return fault(errno, fmt::format("cannot open '{}'", path));
  }
  struct stat status{};
  if (uninterrupted([&] { return ops.fstat(fd.get(), &status); }) != 0) {
    return fault(errno, fmt::format("cannot examine '{}'", path));
  }
  PRECAST_TRY(check_trust(path, status, Role::entry));
  EntryFile file(ops, std::move(fd), path, status);
  if (file.bytes() > limits::kMaxArtifactBytes) {
    return Error(
        ErrorCode::corrupt,
        fmt::format("'{}' has {} bytes, more than an entry may have ({}, kMaxArtifactBytes)", path,
                    file.bytes(), limits::kMaxArtifactBytes));
  }
  return std::optional<EntryFile>(std::move(file));
}

Result<std::optional<Bytes>> read_entry(FileOps& ops, const Folder& folder,
                                        const std::string& name) {
  PRECAST_ASSIGN(const std::optional<EntryFile> file, open_entry_file(ops, folder, name));
  if (!file) return std::optional<Bytes>();
  PRECAST_ASSIGN(Bytes bytes, file->read(0, file->bytes()));
  return std::optional<Bytes>(std::move(bytes));
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
