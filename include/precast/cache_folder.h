// CacheFolder: what is in a cache folder, for people and tools that look after it.
//
//   PRECAST_ASSIGN(std::optional<CacheFolder> folder, CacheFolder::open(""));
//   if (!folder) return;                                  // nobody has made it yet
//   PRECAST_ASSIGN(CacheContents contents, folder->contents());
//   for (const CacheEntry& entry : contents.entries) PRECAST_TRY(folder->remove(entry.key));
//
// Nothing here is needed to compile or to load, and nothing that it reads can be loaded. Entries
// are read below a folder that nobody else can write to, as the cache itself does. Copies share one
// folder; all functions are thread-safe and block on the file system.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "precast/artifact.h"
#include "precast/error.h"
#include "precast/explain.h"
#include "precast/export.h"
#include "precast/result.h"

namespace precast {

// An artifact as a folder lists it.
struct CacheEntry {
  std::string key;   // 64 hexadecimal digits
  std::string path;  // absolute for entries of a cache folder
  std::uint64_t bytes = 0;
  std::int64_t modified_unix_s = 0;  // when it was published
  // The later of the publishing and the last use, which is kept at most once an hour and never in a
  // shared store (docs/stores.md).
  std::int64_t used_unix_s = 0;
};

// What an artifact says about itself.
struct EntryFacts {
  CacheEntry entry;
  std::uint64_t executable_bytes = 0;  // as the plugin serialized it
  Provenance provenance;
};

struct CacheContents {
  // Something of the cache's that cannot be used, and why.
  struct Unusable {
    std::string key;  // of an entry; empty for a folder
    std::string path;
    Error error;
  };
  std::vector<CacheEntry> entries;  // by key
  std::vector<Unusable> unusable;
  // Files that another process is writing, or was when it was killed; `key` is its first two
  // digits.
  std::vector<CacheEntry> unfinished;
  std::uint64_t foreign = 0;  // other things among the entries: never touched
};

// An entry that no collection removes.
struct CachePin {
  std::string key;  // the entry may be missing
  std::string note;
  std::int64_t pinned_unix_s = 0;
};

// What a collection removes. Without any of the three rules it does what the cache does of its own
// accord: if there is more than the soft limit, down to nine tenths of it, and nothing that was
// published or used within ten minutes.
struct CollectOptions {
  // Down to so many bytes, those first that were not used for longest.
  std::optional<std::uint64_t> max_bytes = std::nullopt;
  // What was published, or last used, so many seconds ago or longer.
  std::optional<std::int64_t> older_than_s = std::nullopt;
  std::optional<std::int64_t> unused_for_s = std::nullopt;
  std::uint64_t soft_limit_bytes = 0;  // as in CacheConfig
  std::uint64_t hard_limit_bytes = 0;
  bool dry_run = false;  // look, and write nothing
  bool list = false;     // fill CollectReport::removed
};

struct CollectReport {  // What a collection did, or would do.
  struct Removed {
    CacheEntry entry;  // without a path
    std::string why;   // "age", "unused" or "size"
  };
  std::uint64_t removed_entries = 0;
  std::uint64_t removed_bytes = 0;
  std::uint64_t left_entries = 0;
  std::uint64_t left_bytes = 0;
  std::uint64_t pinned_entries = 0;  // of those left
  std::uint64_t unfinished = 0;      // files of writers that were killed an hour ago or longer
  std::uint64_t unfinished_bytes = 0;
  std::uint64_t quarantined = 0;  // files that left the quarantine
  std::uint64_t quarantined_bytes = 0;
  std::uint64_t leases = 0;  // of holders that are gone
  std::uint64_t soft_limit_bytes = 0;
  std::uint64_t hard_limit_bytes = 0;
  // What could not be looked at or removed, and the first reason.
  std::uint64_t failed = 0;
  std::optional<Error> first_error;
  std::vector<Removed> removed;
};

// Something about a folder that is wrong, or worth knowing.
struct CheckFinding {
  // Printed: append only.
  enum class Kind : std::uint8_t {
    corrupt_entry = 1,     // wrong bytes, another key's record, or no regular file
    untrusted_entry = 2,   // an entry or a folder that others could have written
    unreadable_entry = 3,  // the file system fails, or does not let this user read
    abandoned_file = 4,    // of a writer that was killed
    stale_lease = 5,       // of a holder that is gone
    orphan_pin = 6,        // of an entry that is not there
    // Worth knowing, and nothing wrong:
    future_entry = 7,  // in a later format than this Precast reads
    unfinished = 8,    // a file that is being written
    held_lease = 9,    // somebody compiles
    quarantined = 10,  // a bad entry that was set aside
    foreign = 11,      // not Precast's: never touched
  };
  Kind kind;
  std::string key;  // empty where there is none
  std::string path;
  std::string detail;
  bool fault = false;   // something is wrong, rather than worth knowing
  bool mended = false;  // and is not any more
};
PRECAST_EXPORT std::string_view to_string(CheckFinding::Kind kind);

struct CheckOptions {  // How a folder is checked.
  bool verify = false;  // read and decode every entry as a whole; else what stands at its front
  // Set corrupt entries aside, and remove abandoned files, stale leases and orphan pins.
  bool mend = false;
};

struct CheckReport {  // What a check found.
  std::uint64_t entries = 0;  // sound ones
  std::uint64_t bytes = 0;
  std::vector<CheckFinding> findings;  // by kind, then by path

  // Whether nothing is wrong, or nothing is any more.
  PRECAST_EXPORT bool sound() const;
};

class PRECAST_EXPORT CacheFolder {
 public:
  // Opens the folder; empty: the default one. Nothing when there is no such folder: none is made.
  // Errors: invalid_argument when there is no default folder or a file is in the way;
  // permission_denied when others could write to it; the failures of the file system.
  static Result<std::optional<CacheFolder>> open(const std::string& directory);
  // The same for a namespace of it (CacheConfig::name_space); empty: the folder itself.
  static Result<std::optional<CacheFolder>> open(const std::string& directory,
                                                 const std::string& name_space);

  // The namespaces below a folder, sorted; none when there is no such folder. Errors as open().
  static Result<std::vector<std::string>> name_spaces(const std::string& directory);

  // Absolute and without symbolic links.
  const std::string& path() const { return path_; }

  // Lists the entries without reading them. Only the failure to list at all is an error; what
  // cannot be used is part of the answer.
  Result<CacheContents> contents() const;

  // Reads an entry's header, key record and provenance; nothing when there is no such entry.
  // Errors: invalid_argument for a bad key; corrupt, also when the record is another key's;
  // incompatible for a future format; the failures of the store.
  Result<std::optional<EntryFacts>> facts(const std::string& key) const;

  // The key record that an entry holds, with its provenance and, if asked for, the outline of its
  // program; nothing when there is no such entry. Errors as facts().
  enum class Outlines : std::uint8_t { without, with };
  Result<std::optional<SavedRecord>> saved_record(const std::string& key, Outlines outlines) const;

  // Removes an entry. False when there is none. Errors: invalid_argument for a bad key;
  // permission_denied for what is no regular file, and where this user may not remove.
  Result<bool> remove(const std::string& key) const;

  // Removes an unfinished file of contents() that was last written to before `before_unix_s`; else
  // false.
  Result<bool> remove_unfinished(const CacheEntry& file, std::int64_t before_unix_s) const;

  // Keeps an entry from being removed by collections; an older note is replaced. Errors:
  // invalid_argument for a bad key; where this user may not write, and the failures of the store.
  Result<void> pin(const std::string& key, const std::string& note) const;
  // False when it was not pinned.
  Result<bool> unpin(const std::string& key) const;
  Result<std::vector<CachePin>> pins() const;  // by key

  // Removes entries by rules, and always what dead processes left behind. Errors: unavailable when
  // another process collects; the failure to list at all. What fails later is in the report.
  Result<CollectReport> collect(const CollectOptions& options) const;

  // Looks for what is wrong. Blocks for as long as reading takes; `mend` removes nothing that can
  // be used. Only the failure to list at all is an error.
  Result<CheckReport> check(const CheckOptions& options) const;

  struct Impl;

 private:
  CacheFolder(std::shared_ptr<Impl> impl, std::string path)
      : impl_(std::move(impl)), path_(std::move(path)) {}
  std::shared_ptr<Impl> impl_;
  std::string path_;
};

// PRECAST_NAMESPACE, which counts where nobody names a namespace; empty when it is not set.
PRECAST_EXPORT std::string default_name_space();

// invalid_argument unless the name of a namespace is 1 to 64 of the characters A-Z a-z 0-9 . _ -
// and begins with neither '.' nor '-'.
PRECAST_EXPORT Result<void> check_name_space(const std::string& name);

// The same facts about an artifact in any file. invalid_argument when there is no such file or it
// is no regular file; else as CacheFolder::facts().
PRECAST_EXPORT Result<EntryFacts> artifact_facts(const std::string& path);

}  // namespace precast
