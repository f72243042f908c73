// DirectoryStore: entries as files below one folder.
//
//   PRECAST_ASSIGN(std::unique_ptr<DirectoryStore> store, DirectoryStore::open("/var/cache/x"));
//
//   <root>/v1/ab/<the other 62 digits>.precast
//   <root>/v1/quarantine/ leases/ pins/ usage gc.lock    what lies beside the entries
//   <root>/namespaces/<name>/v1/...                      stores of their own
//
// "v1" is the version of this layout: another Precast with another layout shares the root without
// seeing these entries. There are no locks, and a get never writes.
//
// Loading an executable is running code, so the store opens nothing that a stranger could have
// written: below the root no symbolic link is followed, and the root, every folder above and below
// it and every entry must belong to this user or to root and be writable by nobody else.
// docs/stores.md has the rules and the promises.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/per_process.h"
#include "base/settled.h"
#include "precast/error.h"
#include "store/collect.h"
#include "store/entry_file.h"
#include "store/file_ops.h"
#include "store/folder.h"
#include "store/pins.h"
#include "store/quarantine.h"
#include "store/store.h"
#include "store/usage.h"

namespace precast::store {

// What lies below the layout's folder.
struct StoredEntry {
  std::string name;
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t modified_unix_s = 0;
  std::int64_t used_unix_s = 0;  // the later of the last use and the publishing
};
struct StoreContents {
  // Something that cannot be used, and why.
  struct Refused {
    std::string name;  // of an entry; empty for a folder
    std::string path;
    Error error;
  };
  std::vector<StoredEntry> entries;  // by name; each may be read
  std::vector<Refused> refused;      // entries and folders that are not trusted or not readable
  // Files of writers that are at work, or were killed; `name` is that of the folder.
  std::vector<StoredEntry> unfinished;
  std::uint64_t foreign = 0;               // everything else: not Precast's, and left alone
  std::vector<std::string> foreign_paths;  // the first kMaxForeignPaths of them
  static constexpr std::size_t kMaxForeignPaths = 1000;

  void add_foreign(std::string path) {
    ++foreign;
    if (foreign_paths.size() < kMaxForeignPaths) foreign_paths.push_back(std::move(path));
  }
};

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

  // The same for a namespace of the store at `path` (name_space.h), which is created as well; an
  // empty name is the store itself.
  static Result<std::unique_ptr<DirectoryStore>> open(const std::string& path,
                                                      const std::string& name_space,
                                                      FileOps& ops = posix_file_ops());

  // The same, but creates nothing: null when there is no folder at `path`.
  static Result<std::unique_ptr<DirectoryStore>> find(const std::string& path,
                                                      FileOps& ops = posix_file_ops());
  static Result<std::unique_ptr<DirectoryStore>> find(const std::string& path,
                                                      const std::string& name_space,
                                                      FileOps& ops = posix_file_ops());

  // The namespaces of the store at `path`, sorted; none when there is no folder.
  static Result<std::vector<std::string>> name_spaces(const std::string& path,
                                                      FileOps& ops = posix_file_ops());

  Result<std::optional<Fetched>> get(std::string_view name) override;
  Result<void> put(std::string_view name, BytesView bytes) override;
  Result<bool> quarantine(std::string_view name, const FileIdentity& identity,
                          const std::string& reason) override;
  Result<bool> used(std::string_view name, const FileIdentity& identity,
                    std::int64_t used_unix_s) override;
  Result<bool> has_room(std::uint64_t bytes) override;
  Result<Collected> after_publish(std::uint64_t bytes) override;
  std::string locate(std::string_view name) const override;

  // The bounds of has_room() and after_publish(); 0 stands for a default (collect.h). Before other
  // threads use the store.
  void set_limits(const Limits& limits);
  // With the defaults filled in.
  Result<Limits> limits() const;
  Result<Limits> limits_for(const Limits& wanted) const;
  // Collects by rules that somebody asks for.
  Result<Collected> collect(const CollectOrder& order);

  // Pins (pins.h) and the quarantine (quarantine.h) of this store.
  Result<void> pin(std::string_view name, const std::string& note);
  Result<bool> unpin(std::string_view name);
  Result<std::vector<Pin>> pins();
  Result<std::vector<Quarantined>> quarantined();

  // Looks through the whole store; no entry is read. What cannot be used is in `refused`, so the
  // errors are those of the root and the layout's folder alone. What others add and remove
  // meanwhile may be missed.
  Result<StoreContents> contents();
  // An entry, opened and checked as get() does, to read parts of it; nothing when there is none.
  Result<std::optional<EntryFile>> open_entry(std::string_view name);
  // Removes an entry, trusted or not: its folder is, and that decides about names. False when there
  // is none. permission_denied for what is not a regular file.
  Result<bool> remove(std::string_view name);
  // Removes a file of contents().unfinished, if it is older than `before_unix_s`; else false. A
  // writer whose file is taken away tries once more.
  Result<bool> remove_unfinished(const StoredEntry& file, std::int64_t before_unix_s);

  // The folder of the layout, below which everything of the store lies: made when it is missing, or
  // nothing then.
  Result<Folder> layout_folder();
  Result<std::optional<Folder>> find_layout_folder();
  FileOps& ops() const { return ops_; }

  // Whether others use this store too (sharing.h), or were said to by declare_shared().
  bool shared();
  void declare_shared() { declared_shared_ = true; }

  // The root: absolute and without symbolic links.
  std::string path() const;

 private:
  DirectoryStore(std::string path, std::string name_space, FileOps& ops,
                 std::shared_ptr<const Folder> root);

  std::shared_ptr<const Folder> root() const;
  Result<void> reopen_root();
  Result<std::optional<Folder>> folder_of(std::string_view name);
  Result<std::optional<Fetched>> get_once(std::string_view name);
  Result<Usage> usage(const Folder& layout);
  Result<void> put_once(std::string_view name, BytesView bytes);

  const std::string path_;  // as it was asked for, made absolute
  const std::string name_space_;
  FileOps& ops_;
  std::atomic<bool> declared_shared_ = false;
  base::Settled<bool> shared_;
  std::atomic<std::uint64_t> soft_bytes_ = 0;
  std::atomic<std::uint64_t> hard_bytes_ = 0;
  const std::shared_ptr<const Folder> opened_root_;
  struct Reopened {
    std::mutex mutex;
    std::shared_ptr<const Folder> root;  // null: the one that was opened first is in use
  };
  mutable base::PerProcess<Reopened> reopened_;
};

}  // namespace precast::store
