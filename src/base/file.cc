#include "base/file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/hash.h"

namespace precast::base {
namespace {

constexpr std::size_t kFirstChunkBytes = std::size_t{16} << 10;
constexpr std::size_t kReadChunkBytes = std::size_t{1} << 20;

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::permission_denied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return ErrorCode::resource_exhausted;
    case ETIMEDOUT: return ErrorCode::deadline_exceeded;
    case ESTALE:
    case ENOLCK: return ErrorCode::unavailable;
    default: return ErrorCode::io_error;
  }
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// mkstemp would make the file private, and the umask can only be asked by changing it, for all
// threads. So the name is made here, and the kernel gives the file its mode.
Result<Fd> create_temporary(const std::string& folder, std::string& name) {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::array<char, 8> random{};
    if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
      return errno_error(errno, "cannot get random bytes");
    }
    name = folder + "/" + kTemporaryPrefix + to_hex({random.data(), random.size()});
    Fd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd) return fd;
    if (errno != EEXIST) break;
  }
  return errno_error(errno, "cannot create a file in '" + folder + "'");
}

}  // namespace

Error errno_error(int error_number, const std::string& what) {
  return {code_of(error_number), what + ": " + std::generic_category().message(error_number)};
}

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Result<Bytes> read_all(int fd, std::uint64_t max_bytes, const std::string& name) {
  Bytes bytes;
  bool bytes_known = false;
  struct stat status{};
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    const auto size = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
    if (size > max_bytes) {
      return Error(ErrorCode::resource_exhausted, "'" + name + "' has " + std::to_string(size) +
                                                      " bytes, more than the limit of " +
                                                      std::to_string(max_bytes));
    }
    bytes.reserve(size + 1);
    bytes_known = size > 0;
  }
  std::size_t used = 0;
  while (true) {
    // A regular file is read into what was reserved, whose last byte is for the call that sees the
    // end of the file: asking for more would copy the whole string into twice the memory.
    const std::size_t room = bytes.capacity() - used;
    // Without a known size (a pipe, a file of /proc) a read gives a few kB, and clearing the room
    // for more each time would cost far more than reading.
    const std::size_t step =
        bytes_known ? kReadChunkBytes * 64 : std::clamp(used, kFirstChunkBytes, kReadChunkBytes);
    const std::size_t want = room == 0 ? std::min(step, kReadChunkBytes) : std::min(room, step);
    bytes.resize(used + want);
    const ssize_t got = ::read(fd, bytes.data() + used, want);
    if (got < 0) {
      if (errno == EINTR) continue;
      return errno_error(errno, "cannot read '" + name + "'");
    }
    used += static_cast<std::size_t>(got);
    bytes.resize(used);
    if (got == 0) return bytes;
    if (used > max_bytes) {
      return Error(ErrorCode::resource_exhausted, "'" + name + "' is larger than the limit of " +
                                                      std::to_string(max_bytes) + " bytes");
    }
  }
}

Result<void> write_all(int fd, BytesView bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
    if (wrote < 0) {
      if (errno == EINTR) continue;
      return errno_error(errno, "cannot write '" + name + "'");
    }
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

Result<Bytes> read_file(const std::string& path, std::uint64_t max_bytes) {
  if (path == "-") return read_all(STDIN_FILENO, max_bytes, "standard input");
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return Error(ErrorCode::invalid_argument, "no file '" + path + "'");
    }
    return errno_error(errno, "cannot open '" + path + "'");
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return Error(ErrorCode::invalid_argument, "'" + path + "' is a folder, not a file");
  }
  auto bytes = read_all(fd.get(), max_bytes, path);
  if (!bytes && bytes.error().code() == ErrorCode::resource_exhausted) {
    return Error(ErrorCode::invalid_argument, bytes.error().message());
  }
  return bytes;
}

Result<void> write_file_atomic(const std::string& path, BytesView bytes, Flush flush) {
  const std::string folder = folder_of(path);
  std::string temporary;
  PRECAST_ASSIGN(const Fd fd, create_temporary(folder, temporary));
  auto written = [&]() -> Result<void> {
    PRECAST_TRY(write_all(fd.get(), bytes, path));
    if (flush == Flush::yes && ::fsync(fd.get()) != 0)
      return errno_error(errno, "cannot flush '" + path + "'");
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
      return errno_error(errno, "cannot rename to '" + path + "'");
    }
    return {};
  }();
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (flush == Flush::no) return {};
  const Fd folder_fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder_fd) ::fsync(folder_fd.get());
  return {};
}

}  // namespace precast::base
