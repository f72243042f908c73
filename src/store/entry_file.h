// Reading and publishing one file in a folder of the store.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/file.h"
#include "precast/bytes.h"
#include "precast/result.h"
#include "store/file_ops.h"
#include "store/folder.h"
#include "store/store.h"

namespace precast::store {

// An entry's file that was found safe, open for reading.
class EntryFile {
 public:
  EntryFile(FileOps& ops, base::Fd fd, std::string path, const struct stat& status)
      : ops_(&ops), fd_(std::move(fd)), path_(std::move(path)), status_(status) {}

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const;
  std::int64_t modified_unix_s() const { return status_.st_mtime; }
  // By its access time, which a use stamps.
  std::int64_t used_unix_s() const { return std::max(status_.st_atime, status_.st_mtime); }
  FileIdentity identity() const;
  // Asks again: the file may have changed since it was opened.
  Result<FileIdentity> identity_now() const;
  // Exactly `size` bytes from `offset` on. corrupt when the file ends before.
  Result<Bytes> read(std::uint64_t offset, std::uint64_t size) const;

 private:
  FileOps* ops_;
  base::Fd fd_;
  std::string path_;
  struct stat status_;
};

FileIdentity identity_of(const struct stat& status);

// Opens an entry's file; nothing when there is none. Errors: permission_denied for what trust.h
// refuses; corrupt for what can be no entry: no regular file, or beyond limits::kMaxArtifactBytes.
Result<std::optional<EntryFile>> open_entry_file(FileOps& ops, const Folder& folder,
                                                 const std::string& name);

// The whole file in one buffer; nothing when there is none. What open_entry_file() calls corrupt is
// an answer here. It is read, never mapped: what is verified must be what is loaded, and cutting a
// mapped file short would kill this process.
Result<std::optional<Fetched>> read_entry(FileOps& ops, const Folder& folder,
                                          const std::string& name);

// Sets the access time of an entry to now, if it is still the file of `identity`; else false. Its
// other times stay.
Result<bool> stamp_use(FileOps& ops, const Folder& folder, const std::string& name,
                       const FileIdentity& identity);

// Hexadecimal digits that no other file's name has.
Result<std::string> random_name_part();

// Writes a temporary file in the same folder, flushes it to disk, renames it to `name` and flushes
// the folder. On an error the temporary file is removed. unavailable when the folder was removed
// meanwhile.
Result<void> write_entry(FileOps& ops, const Folder& folder, const std::string& name,
                         BytesView bytes);

}  // namespace precast::store
