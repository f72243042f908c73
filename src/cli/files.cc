#include "cli/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "cli/text.h"

namespace precast::cli {
namespace {

Error failure(int error_number, const std::string& what) {
  const std::string message = fmt::format("{}: {}", what, std::strerror(error_number));
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG: return {ErrorCode::invalid_argument, message};
    case EACCES:
    case EPERM:
    case EROFS: return {ErrorCode::permission_denied, message};
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return {ErrorCode::resource_exhausted, message};
    default: return {ErrorCode::io_error, message};
  }
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  int get() const { return fd_; }
  // Closes now and says whether that went well: a full disk may show only here.
  int close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd);
  }

 private:
  int fd_;
};

Result<void> write_all(int fd, BytesView bytes, const std::string& what) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0) {
      if (errno == EINTR) continue;
      return failure(errno, what);
    }
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

Result<void> write_directly(const std::string& path, BytesView head, BytesView body) {
  const std::string what = fmt::format("writing '{}'", path);
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) return failure(errno, what);
  PRECAST_TRY(write_all(fd.get(), head, what));
  return write_all(fd.get(), body, what);
}

Result<void> write_and_rename(const std::string& path, BytesView head, BytesView body) {
  const std::string what = fmt::format("writing '{}'", path);
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd.get() < 0) return failure(errno, what);
  const auto finish = [&]() -> Result<void> {
    PRECAST_TRY(write_all(fd.get(), head, what));
    PRECAST_TRY(write_all(fd.get(), body, what));
    if (fd.close() != 0) return failure(errno, what);
    if (::rename(temporary.c_str(), path.c_str()) != 0) return failure(errno, what);
    return {};
  };
  Result<void> done = finish();
  if (!done) ::unlink(temporary.c_str());
  return done;
}

}  // namespace

Result<Bytes> read_input(const std::string& path, std::uint64_t max_bytes) {
  const std::string name = path == "-" ? "standard input" : fmt::format("'{}'", path);
  const std::string what = "reading " + name;
  Descriptor fd(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0 && errno == ENOENT) {
    return Error(ErrorCode::invalid_argument, "no file " + name);
  }
  if (fd.get() < 0) return failure(errno, what);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return failure(errno, what);
  if (S_ISDIR(status.st_mode)) {
    return Error(ErrorCode::invalid_argument, fmt::format("{} is a folder, not a file", name));
  }
  const auto too_large = [&] {
    return Error(ErrorCode::invalid_argument,
                 fmt::format("{} is larger than the limit of {} bytes", name, max_bytes));
  };
  Bytes bytes;
  if (S_ISREG(status.st_mode)) {
    if (static_cast<std::uint64_t>(status.st_size) > max_bytes) return too_large();
    bytes.reserve(static_cast<std::size_t>(status.st_size) + 1);
  }
  std::array<char, 1 << 16> block;
  while (true) {
    const ssize_t got = ::read(fd.get(), block.data(), block.size());
    if (got < 0) {
      if (errno == EINTR) continue;
      return failure(errno, what);
    }
    if (got == 0) return bytes;
    bytes.append(block.data(), static_cast<std::size_t>(got));
    if (bytes.size() > max_bytes) return too_large();
  }
}

Result<void> write_output(const std::string& path, BytesView head, BytesView body) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      return Error(ErrorCode::invalid_argument,
                   fmt::format("writing '{}': it is a folder; give a file's name", path));
    }
    if (!S_ISREG(status.st_mode)) return write_directly(path, head, body);
  }
  return write_and_rename(path, head, body);
}

std::string nearest_file(const std::string& path) {
  const std::filesystem::path wanted(path);
  const std::string name = wanted.filename().string();
  const std::filesystem::path folder = wanted.has_parent_path() ? wanted.parent_path() : ".";
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  std::string nearest = nearest_word(name, names);
  for (const std::string& other : names) {
    if (nearest.empty() && !wanted.stem().empty() &&
        std::filesystem::path(other).stem() == wanted.stem()) {
      nearest = other;
    }
  }
  return nearest.empty() ? "" : (wanted.parent_path() / nearest).string();
}

Result<void> make_folders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return failure(error.value(), fmt::format("making the folder '{}'", path));
  if (!std::filesystem::is_directory(path, error)) {
    return Error(ErrorCode::invalid_argument, fmt::format("'{}' is not a folder", path));
  }
  return {};
}

Result<TemporaryFolder> TemporaryFolder::create() {
  const char* parent = ::secure_getenv("TMPDIR");
  std::string path = parent != nullptr && *parent != '\0' ? parent : "/tmp";
  path += "/precast-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return failure(errno, fmt::format("making a temporary folder '{}'", path));
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code ignored;  // a leftover in the temporary folder harms nobody
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace precast::cli
