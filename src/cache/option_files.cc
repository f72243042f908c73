#include "cache/option_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "precast/limits.h"

namespace precast::cache {
namespace {

namespace fs = std::filesystem;

// The bytes of a regular file; a pipe or a device would be consumed by looking at it.
Result<Bytes> read_regular(const std::string& path, std::uint64_t max_bytes) {
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return Error(ErrorCode::invalid_argument, fmt::format("no file '{}'", path));
    }
    return base::errno_error(errno, fmt::format("cannot open '{}'", path));
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return Error(ErrorCode::invalid_argument, fmt::format("'{}' is no regular file", path));
  }
  return base::read_all(fd.get(), max_bytes, path);
}

Result<void> add_entry(proto::FileContent& content, const fs::path& folder,
                       const fs::directory_entry& entry, std::uint64_t& left) {
  std::error_code error;
  const std::string path = entry.path().string();
  if (entry.is_directory(error)) {
    if (!entry.is_symlink(error)) return {};
    return Error(ErrorCode::invalid_argument,
                 fmt::format("'{}' is a link to a folder, which is not followed", path));
  }
  if (content.entries.size() >= limits::kMaxOptionFolderFiles) {
    return Error(ErrorCode::resource_exhausted,
                 fmt::format("the folder '{}' has more files than the limit of {}", folder.string(),
                             limits::kMaxOptionFolderFiles));
  }
  PRECAST_ASSIGN(Bytes bytes, read_regular(path, left));
  left -= bytes.size();
  content.entries.push_back({entry.path().lexically_relative(folder).string(), std::move(bytes)});
  return {};
}

}  // namespace

Result<proto::FileContent> read_content(const std::string& path) {
  if (path.find('\0') != std::string::npos) {
    return Error(ErrorCode::invalid_argument, "the path holds a NUL");
  }
  std::error_code error;
  proto::FileContent content;
  std::uint64_t left = limits::kMaxOptionContentBytes;
  content.folder = fs::is_directory(path, error);
  if (!content.folder) {
    PRECAST_ASSIGN(Bytes bytes, read_regular(path, left));
    content.entries.push_back({"", std::move(bytes)});
    return content;
  }
  fs::recursive_directory_iterator at(path, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    PRECAST_TRY(add_entry(content, path, *at, left));
  }
  if (error) return base::errno_error(error.value(), fmt::format("cannot read '{}'", path));
  return content;
}

}  // namespace precast::cache
