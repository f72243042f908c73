// DirectoryStore: entries as files below one folder.
//
//   PRECAST_ASSIGN(std::unique_ptr<DirectoryStore> store, DirectoryStore::open("/var/cache/x"));
//
//   <root>/v1/ab/<the other 62 digits>.precast
//
// "v1" is the version of this layout: another Precast with another layout shares the root without
// seeing these entries. There are no locks, and a get never writes.
//
// Loading an executable is running code, so the store opens nothing that a stranger could have
// written: below the root no symbolic link is followed, and the root, every folder above and below
// it and every entry must belong to this user or to root and be writable by nobody else.
// docs/stores.md has the rules and the promises.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "store/file_ops.h"
#include "store/folder.h"
#include "store/store.h"

namespace precast::store {

class DirectoryStore : public Store {
 public:
  // Opens the store at `path`, and creates that folder (and those above it, all private to this
  // user) when it is missing. A relative path counts from the working directory of this moment. A
  // folder that may only be read serves get(). `ops` must outlive the store. Errors:
  // invalid_argument for a path that cannot name a folder (empty, a file is in the way);
  // permission_denied when it may not be opened or created, or when someone else could write to it
  // (the message says what is wrong and how to mend it); the failures of the file system.
  static Result<std::unique_ptr<DirectoryStore>> open(const std::string& path,
                                                      FileOps& ops = posix_file_ops());

  Result<std::optional<Bytes>> get(std::string_view name) override;
  Result<void> put(std::string_view name, BytesView bytes) override;
  std::string locate(std::string_view name) const override;

  // The root: absolute and without symbolic links.
  std::string path() const;

 private:
  DirectoryStore(std::string path, FileOps& ops, std::shared_ptr<const Folder> root);

  std::shared_ptr<const Folder> root() const;
  Result<void> reopen_root();
  Result<std::optional<Bytes>> get_once(std::string_view name);
  Result<void> put_once(std::string_view name, BytesView bytes);

  const std::string path_;  // as it was asked for, made absolute
  FileOps& ops_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Folder> root_;  // guarded by mutex_; the folder itself never changes
};

}  // namespace precast::store
