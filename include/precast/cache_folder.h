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

class PRECAST_EXPORT CacheFolder {
 public:
  // Opens the folder; empty: the default one. Nothing when there is no such folder: none is made.
  // Errors: invalid_argument when there is no default folder or a file is in the way;
  // permission_denied when others could write to it; the failures of the file system.
  static Result<std::optional<CacheFolder>> open(const std::string& directory);

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

  struct Impl;

 private:
  CacheFolder(std::shared_ptr<Impl> impl, std::string path)
      : impl_(std::move(impl)), path_(std::move(path)) {}
  std::shared_ptr<Impl> impl_;
  std::string path_;
};

// The same facts about an artifact in any file. invalid_argument when there is no such file or it
// is no regular file; else as CacheFolder::facts().
PRECAST_EXPORT Result<EntryFacts> artifact_facts(const std::string& path);

}  // namespace precast
