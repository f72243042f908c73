// DirectoryStore: what is there, and removing it.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "store/directory_store.h"
#include "store/layout.h"
#include "store/listing.h"
#include "store/trust.h"

namespace precast::store {
namespace {

StoredEntry entry_of(std::string name, std::string path, const struct stat& status) {
  return {std::move(name), std::move(path),
          static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0)),
          static_cast<std::int64_t>(status.st_mtime),
          static_cast<std::int64_t>(std::max(status.st_atime, status.st_mtime))};
}

// Sorts one file of a fan-out folder in.
void add_file(FileOps& ops, const Folder& folder, const std::string& digits,
              const std::string& file, StoreContents& contents) {
  std::optional<std::string> name = entry_name(digits, file);
  const bool temporary = file.starts_with(kTemporaryPrefix);
  const std::string path = folder.path + "/" + file;
  if (!name && !temporary) {
    contents.add_foreign(path);
    return;
  }
  auto status = look_at(ops, folder, file);
  if (!status) {
    contents.refused.push_back({name.value_or(""), path, std::move(status).error()});
  } else if (!*status) {
    return;  // removed since the folder was listed
  } else if (!S_ISREG((*status)->st_mode)) {
    contents.add_foreign(path);
  } else if (temporary) {
    contents.unfinished.push_back(entry_of(digits, path, **status));
  } else if (auto trusted = check_trust(path, **status, Role::entry); !trusted) {
    contents.refused.push_back({*std::move(name), path, std::move(trusted).error()});
  } else {
    contents.entries.push_back(entry_of(*std::move(name), path, **status));
  }
}

void add_folder(FileOps& ops, const Folder& layout, const std::string& digits,
                StoreContents& contents) {
  const std::string path = layout.path + "/" + digits;
  auto folder = open_folder(ops, layout, digits);
  if (!folder) {
    contents.refused.push_back({"", path, std::move(folder).error()});
    return;
  }
  if (!*folder) return;
  const auto names = names_in(ops, **folder);
  if (!names) {
    contents.refused.push_back({"", path, names.error()});
    return;
  }
  for (const std::string& name : *names) add_file(ops, **folder, digits, name, contents);
}

}  // namespace

Result<StoreContents> DirectoryStore::contents() {
  StoreContents contents;
  const std::shared_ptr<const Folder> top = root();
  PRECAST_ASSIGN(const std::optional<Folder> layout, open_folder(ops_, *top, kLayout));
  if (!layout) return contents;
  PRECAST_ASSIGN(const std::vector<std::string> names, names_in(ops_, *layout));
  for (const std::string& name : names) {
    if (is_fan_out(name)) {
      add_folder(ops_, *layout, name, contents);
    } else if (!is_own_name(name)) {
      contents.add_foreign(layout->path + "/" + name);
    }
  }
  return contents;
}

Result<std::optional<EntryFile>> DirectoryStore::open_entry(std::string_view name) {
  PRECAST_TRY(check_name(name));
  PRECAST_ASSIGN(const std::optional<Folder> folder, folder_of(name));
  if (!folder) return std::optional<EntryFile>();
  return open_entry_file(ops_, *folder, file_name(name));
}

Result<bool> DirectoryStore::remove(std::string_view name) {
  PRECAST_TRY(check_name(name));
  PRECAST_ASSIGN(const std::optional<Folder> folder, folder_of(name));
  if (!folder) return false;
  PRECAST_ASSIGN(const std::optional<struct stat> status, look_at(ops_, *folder, file_name(name)));
  if (!status) return false;
  if (!S_ISREG(status->st_mode)) {
    return Error(ErrorCode::permission_denied,
                 fmt::format("'{}/{}' is not a regular file, so it is no entry, and is left alone",
                             folder->path, file_name(name)));
  }
  return remove_file(ops_, *folder, file_name(name));
}

Result<bool> DirectoryStore::remove_unfinished(const StoredEntry& file,
                                               std::int64_t before_unix_s) {
  const std::string name = file.path.substr(file.path.rfind('/') + 1);
  if (!is_fan_out(file.name) || !name.starts_with(kTemporaryPrefix)) {
    return Error(ErrorCode::invalid_argument,
                 fmt::format("'{}' is no unfinished file of a store", file.path));
  }
  const std::shared_ptr<const Folder> top = root();
  PRECAST_ASSIGN(const std::optional<Folder> layout, open_folder(ops_, *top, kLayout));
  if (!layout) return false;
  PRECAST_ASSIGN(const std::optional<Folder> folder, open_folder(ops_, *layout, file.name));
  if (!folder) return false;
  PRECAST_ASSIGN(const std::optional<struct stat> status, look_at(ops_, *folder, name));
  if (!status || !S_ISREG(status->st_mode) || status->st_mtime >= before_unix_s) return false;
  return remove_file(ops_, *folder, name);
}

}  // namespace precast::store
