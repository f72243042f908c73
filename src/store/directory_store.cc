#include "store/directory_store.h"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "precast/limits.h"
#include "store/entry_file.h"
#include "store/layout.h"
#include "store/name_space.h"
#include "store/quarantine.h"
#include "store/sharing.h"

namespace precast::store {
namespace {

Result<std::string> absolute(const std::string& path) {
  if (path.empty()) return Error(ErrorCode::invalid_argument, "the path of the cache is empty");
  if (path.find('\0') != std::string::npos) {
    return Error(ErrorCode::invalid_argument, "the path of the cache holds a NUL character");
  }
  if (path.front() == '/') return path;
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error) {
    return Error(ErrorCode::invalid_argument,
                 fmt::format("'{}' counts from the working directory, which cannot be found: {}",
                             path, error.message()));
  }
  return here.string() + "/" + path;
}

}  // namespace

DirectoryStore::DirectoryStore(std::string path, std::string name_space, FileOps& ops,
                               std::shared_ptr<const Folder> root)
    : path_(std::move(path)),
      name_space_(std::move(name_space)),
      ops_(ops),
      opened_root_(std::move(root)) {}

Result<std::unique_ptr<DirectoryStore>> DirectoryStore::open(const std::string& path,
                                                             FileOps& ops) {
  return open(path, "", ops);
}

Result<std::unique_ptr<DirectoryStore>> DirectoryStore::open(const std::string& path,
                                                             const std::string& name_space,
                                                             FileOps& ops) {
  PRECAST_ASSIGN(std::string wanted, absolute(path));
  // Before anything is made.
  if (!name_space.empty()) PRECAST_TRY(check_name_space(name_space));
  PRECAST_ASSIGN(Folder top, open_root(ops, wanted));
  PRECAST_ASSIGN(Folder root, ensure_name_space(ops, std::move(top), name_space));
  return std::unique_ptr<DirectoryStore>(new DirectoryStore(
      std::move(wanted), name_space, ops, std::make_shared<const Folder>(std::move(root))));
}

Result<std::unique_ptr<DirectoryStore>> DirectoryStore::find(const std::string& path,
                                                             FileOps& ops) {
  return find(path, "", ops);
}

Result<std::unique_ptr<DirectoryStore>> DirectoryStore::find(const std::string& path,
                                                             const std::string& name_space,
                                                             FileOps& ops) {
  PRECAST_ASSIGN(std::string wanted, absolute(path));
  if (!name_space.empty()) PRECAST_TRY(check_name_space(name_space));
  PRECAST_ASSIGN(std::optional<Folder> top, find_root(ops, wanted));
  if (!top) return std::unique_ptr<DirectoryStore>();
  PRECAST_ASSIGN(std::optional<Folder> root, find_name_space(ops, *std::move(top), name_space));
  if (!root) return std::unique_ptr<DirectoryStore>();
  return std::unique_ptr<DirectoryStore>(new DirectoryStore(
      std::move(wanted), name_space, ops, std::make_shared<const Folder>(*std::move(root))));
}

Result<std::vector<std::string>> DirectoryStore::name_spaces(const std::string& path,
                                                             FileOps& ops) {
  PRECAST_ASSIGN(const std::string wanted, absolute(path));
  PRECAST_ASSIGN(const std::optional<Folder> top, find_root(ops, wanted));
  if (!top) return std::vector<std::string>();
  return list_name_spaces(ops, *top);
}

std::shared_ptr<const Folder> DirectoryStore::root() const {
  Reopened& here = reopened_.here();
  const std::lock_guard lock(here.mutex);
  return here.root != nullptr ? here.root : opened_root_;
}

// The descriptor outlives the folder: once that was removed or, on a network, became stale, only
// the path leads to a folder that others see too.
Result<void> DirectoryStore::reopen_root() {
  PRECAST_ASSIGN(Folder top, open_root(ops_, path_));
  PRECAST_ASSIGN(Folder root, ensure_name_space(ops_, std::move(top), name_space_));
  Reopened& here = reopened_.here();
  const std::lock_guard lock(here.mutex);
  here.root = std::make_shared<const Folder>(std::move(root));
  return {};
}

Result<std::optional<Folder>> DirectoryStore::folder_of(std::string_view name) {
  PRECAST_ASSIGN(const std::optional<Folder> top, find_layout_folder());
  if (!top) return std::optional<Folder>();
  return open_folder(ops_, *top, fan_out(name));
}

Result<std::optional<Fetched>> DirectoryStore::get_once(std::string_view name) {
  PRECAST_ASSIGN(const std::optional<Folder> folder, folder_of(name));
  if (!folder) return std::optional<Fetched>();
  return read_entry(ops_, *folder, file_name(name));
}

Result<std::optional<Fetched>> DirectoryStore::get(std::string_view name) {
  PRECAST_TRY(check_name(name));
  auto found = get_once(name);
  // A network file system says "stale" about a file that was replaced while it was read.
  if (found || found.error().code() != ErrorCode::unavailable) return found;
  PRECAST_TRY(reopen_root());
  return get_once(name);
}

Result<void> DirectoryStore::put_once(std::string_view name, BytesView bytes) {
  const std::shared_ptr<const Folder> top = root();
  PRECAST_ASSIGN(const Folder layout, ensure_folder(ops_, *top, kLayout));
  PRECAST_ASSIGN(const Folder folder, ensure_folder(ops_, layout, fan_out(name)));
  return write_entry(ops_, folder, file_name(name), bytes);
}

Result<void> DirectoryStore::put(std::string_view name, BytesView bytes) {
  PRECAST_TRY(check_name(name));
  if (bytes.size() > limits::kMaxArtifactBytes) {
    return Error(ErrorCode::invalid_argument,
                 fmt::format("{} bytes are more than an entry may have ({}, kMaxArtifactBytes)",
                             bytes.size(), limits::kMaxArtifactBytes));
  }
  auto stored = put_once(name, bytes);
  if (stored || stored.error().code() != ErrorCode::unavailable) return stored;
  // Somebody removed the cache, or a part of it, in the middle. It is made again, once.
  PRECAST_TRY(reopen_root());
  return put_once(name, bytes);
}

Result<Folder> DirectoryStore::layout_folder() {
  const std::shared_ptr<const Folder> top = root();
  auto layout = ensure_folder(ops_, *top, kLayout);
  if (layout || layout.error().code() != ErrorCode::unavailable) return layout;
  PRECAST_TRY(reopen_root());
  const std::shared_ptr<const Folder> again = root();
  return ensure_folder(ops_, *again, kLayout);
}

Result<std::optional<Folder>> DirectoryStore::find_layout_folder() {
  const std::shared_ptr<const Folder> top = root();
  return open_folder(ops_, *top, kLayout);
}

Result<bool> DirectoryStore::quarantine(std::string_view name, const FileIdentity& identity,
                                        const std::string& reason) {
  PRECAST_TRY(check_name(name));
  PRECAST_ASSIGN(const std::optional<Folder> top, find_layout_folder());
  if (!top) return false;
  PRECAST_ASSIGN(const std::optional<Folder> folder, open_folder(ops_, *top, fan_out(name)));
  if (!folder) return false;
  return set_aside(ops_, *top, *folder, name, identity, reason);
}

bool DirectoryStore::shared() {
  if (declared_shared_) return true;
  if (const bool* known = shared_.get()) return *known;
  return shared_.settle(is_shared(ops_, *root()));
}

Result<bool> DirectoryStore::used(std::string_view name, const FileIdentity& identity,
                                  std::int64_t used_unix_s) {
  PRECAST_TRY(check_name(name));
  // A use in the future is that of another clock; it is as good as one of now.
  if (static_cast<std::int64_t>(std::time(nullptr)) - used_unix_s < kUseStampSeconds) return false;
  if (shared()) return false;
  PRECAST_ASSIGN(const std::optional<Folder> folder, folder_of(name));
  if (!folder) return false;
  return stamp_use(ops_, *folder, file_name(name), identity);
}

std::string DirectoryStore::locate(std::string_view name) const {
  if (!is_name(name)) return "";
  return fmt::format("{}/{}/{}/{}", path(), kLayout, fan_out(name), file_name(name));
}

std::string DirectoryStore::path() const { return root()->path; }

}  // namespace precast::store
