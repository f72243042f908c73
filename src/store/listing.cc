#include "store/listing.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "store/trust.h"

namespace precast::store {

Result<std::vector<std::string>> names_in(FileOps& ops, const Folder& folder) {
  const base::Fd fd(uninterrupted(
      [&] { return ops.openat(folder.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0); }));
  if (!fd) return fault(errno, fmt::format("cannot open '{}' to list it", folder.path));
  std::vector<std::string> names;
  if (ops.readdir(fd.get(), names) != 0) {
    return fault(errno, fmt::format("cannot list '{}'", folder.path));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::optional<struct stat>> look_at(FileOps& ops, const Folder& folder,
                                           const std::string& name) {
  const std::string path = folder.path + "/" + name;
  const base::Fd fd(uninterrupted([&] {
    return ops.openat(folder.fd.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
  }));
  if (!fd && errno == ENOENT) return std::optional<struct stat>();
  if (!fd) return fault(errno, fmt::format("cannot open '{}'", path));
  struct stat status{};
  if (uninterrupted([&] { return ops.fstat(fd.get(), &status); }) != 0) {
    return fault(errno, fmt::format("cannot examine '{}'", path));
  }
  return std::optional<struct stat>(status);
}

Result<bool> remove_file(FileOps& ops, const Folder& folder, const std::string& name) {
  if (uninterrupted([&] { return ops.unlinkat(folder.fd.get(), name.c_str()); }) == 0) return true;
  if (errno == ENOENT) return false;
  return fault(errno, fmt::format("cannot remove '{}/{}'", folder.path, name));
}

}  // namespace precast::store
