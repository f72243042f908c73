#include "store/folder.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>
#include <utility>
#include <vector>

#include "store/trust.h"

namespace precast::store {
namespace {

// The kernel's own limit for one path.
constexpr int kMaxLinks = 40;
constexpr mode_t kPrivateFolder = 0700;

struct Opened {
  base::Fd fd;
  struct stat status{};
};

std::string join(const std::string& folder, const std::string& name) {
  return folder == "/" ? folder + name : folder + "/" + name;
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<std::optional<Opened>> open_step(FileOps& ops, int parent, const std::string& name,
                                        const std::string& path) {
  const auto open_with = [&](int flags) {
    return uninterrupted([&] {
      return ops.openat(parent, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC | flags, 0);
    });
  };
  // As a folder first: only that makes an automounter mount what belongs there.
  int fd = open_with(O_DIRECTORY);
  if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) fd = open_with(0);
  if (fd < 0 && errno == ENOENT) return std::optional<Opened>();
  if (fd < 0) return fault(errno, fmt::format("cannot open '{}'", path));
  Opened opened;
  opened.fd.reset(fd);
  if (uninterrupted([&] { return ops.fstat(fd, &opened.status); }) != 0) {
    return fault(errno, fmt::format("cannot examine '{}'", path));
  }
  return std::optional<Opened>(std::move(opened));
}

Result<void> create_folder(FileOps& ops, const Folder& parent, const std::string& name,
                           mode_t mode) {
  const std::string path = join(parent.path, name);
  if (uninterrupted([&] { return ops.mkdirat(parent.fd.get(), name.c_str(), mode); }) == 0) {
    return {};
  }
  if (errno == EEXIST) return {};  // another process was faster; what it made is checked as any
  if (errno == ENOENT || errno == ESTALE) {
    return Error(
        ErrorCode::unavailable,
        fmt::format("cannot create '{}': '{}' was removed while in use", path, parent.path));
  }
  return fault(errno, fmt::format("cannot create the folder '{}'", path));
}

Result<Opened> open_or_create(FileOps& ops, const Folder& parent, const std::string& name,
                              mode_t mode) {
  const std::string path = join(parent.path, name);
  PRECAST_ASSIGN(std::optional<Opened> found, open_step(ops, parent.fd.get(), name, path));
  if (found) return std::move(*found);
  PRECAST_TRY(create_folder(ops, parent, name, mode));
  PRECAST_ASSIGN(std::optional<Opened> made, open_step(ops, parent.fd.get(), name, path));
  if (made) return std::move(*made);
  return Error(ErrorCode::unavailable,
               fmt::format("'{}' was removed right after it was created", path));
}

// Nothing below the root may be a symbolic link: it could lead to what nobody has checked.
Result<Folder> below_root(Opened opened, std::string path) {
  if (S_ISLNK(opened.status.st_mode)) {
    return Error(ErrorCode::permission_denied,
                 fmt::format("'{0}' is a symbolic link, and none is followed inside a cache; run: "
                             "rm {1}",
                             path, shell_quoted(path)));
  }
  PRECAST_TRY(check_trust(path, opened.status, Role::folder));
  return Folder{std::move(opened.fd), std::move(path), opened.status};
}

// The parts of a path, the last one first.
std::vector<std::string> parts_from_end(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

Result<std::string> read_link(FileOps& ops, const Opened& link, const std::string& path) {
  std::array<char, PATH_MAX> target{};
  // An empty name means the link that the descriptor holds, the one that was checked.
  const ssize_t size = uninterrupted(
      [&] { return ops.readlinkat(link.fd.get(), "", target.data(), target.size()); });
  if (size < 0) return fault(errno, fmt::format("cannot read the symbolic link '{}'", path));
  return std::string(target.data(), static_cast<std::size_t>(size));
}

Result<Folder> open_top(FileOps& ops) {
  PRECAST_ASSIGN(std::optional<Opened> opened, open_step(ops, AT_FDCWD, "/", "/"));
  if (!opened) return Error(ErrorCode::io_error, "there is no folder '/'");
  PRECAST_TRY(check_trust("/", opened->status, Role::ancestor));
  return Folder{std::move(opened->fd), "/", opened->status};
}

// One step of the way to the root; nothing when it is missing and is not to be created.
Result<std::optional<Opened>> open_on_the_way(FileOps& ops, const Folder& at,
                                              const std::string& name, const std::string& path,
                                              bool create) {
  if (!create) return open_step(ops, at.fd.get(), name, path);
  PRECAST_ASSIGN(Opened opened, open_or_create(ops, at, name, kPrivateFolder));
  return std::optional<Opened>(std::move(opened));
}

Result<std::optional<Folder>> walk_to_root(FileOps& ops, const std::string& path, bool create) {
  std::vector<std::string> rest = parts_from_end(path);
  PRECAST_ASSIGN(Folder at, open_top(ops));
  int links = 0;
  while (!rest.empty()) {
    const std::string name = std::move(rest.back());
    rest.pop_back();
    std::string step = name == ".." ? parent_of(at.path) : join(at.path, name);
    PRECAST_ASSIGN(std::optional<Opened> found, open_on_the_way(ops, at, name, step, create));
    if (!found) return std::optional<Folder>();
    Opened opened = std::move(*found);
    if (S_ISLNK(opened.status.st_mode)) {
      PRECAST_TRY(check_owner(step, opened.status));
      if (++links > kMaxLinks) {
        return Error(
            ErrorCode::invalid_argument,
            fmt::format("'{}' leads through more than {} symbolic links", path, kMaxLinks));
      }
      PRECAST_ASSIGN(const std::string target, read_link(ops, opened, step));
      for (std::string& part : parts_from_end(target)) rest.push_back(std::move(part));
      if (target.starts_with('/')) {
        PRECAST_ASSIGN(at, open_top(ops));
      }
      continue;
    }
    if (!S_ISDIR(opened.status.st_mode)) {
      return Error(ErrorCode::invalid_argument,
                   fmt::format("'{}' cannot be a cache folder: '{}' is not a folder", path, step));
    }
    PRECAST_TRY(check_trust(step, opened.status, Role::ancestor));
    at = Folder{std::move(opened.fd), std::move(step), opened.status};
  }
  PRECAST_TRY(check_trust(at.path, at.status, Role::folder));
  return std::optional<Folder>(std::move(at));
}

}  // namespace

Result<Folder> open_root(FileOps& ops, const std::string& path) {
  PRECAST_ASSIGN(std::optional<Folder> root, walk_to_root(ops, path, true));
  if (root) return std::move(*root);
  return Error(ErrorCode::internal, "the folder '" + path + "' was neither found nor created");
}

Result<std::optional<Folder>> find_root(FileOps& ops, const std::string& path) {
  return walk_to_root(ops, path, false);
}

Result<std::optional<Folder>> open_folder(FileOps& ops, const Folder& parent,
                                          const std::string& name) {
  const std::string path = join(parent.path, name);
  PRECAST_ASSIGN(std::optional<Opened> opened, open_step(ops, parent.fd.get(), name, path));
  if (!opened) return std::optional<Folder>();
  PRECAST_ASSIGN(Folder folder, below_root(std::move(*opened), path));
  return std::optional<Folder>(std::move(folder));
}

Result<Folder> ensure_folder(FileOps& ops, const Folder& parent, const std::string& name) {
  const mode_t mode = kPrivateFolder | (parent.status.st_mode & 0055);
  PRECAST_ASSIGN(Opened opened, open_or_create(ops, parent, name, mode));
  return below_root(std::move(opened), join(parent.path, name));
}

}  // namespace precast::store
