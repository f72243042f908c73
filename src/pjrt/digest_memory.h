// Digests of large files, remembered on disk per user, so that a 200 MB plugin is hashed once and
// not in every process.
//
// The memory is one small file per hashed file, in a folder that only the user may write. It is a
// convenience: whatever is wrong with it means that the file is hashed again.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/private_folder.h"
#include "precast/digest.h"

namespace precast::pjrt {

// What tells one state of a file from another without reading it.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;

  static FileIdentity of(const struct stat& status);
  // "<device>-<inode>-<bytes>-<modified_ns>-<changed_ns>": a file name, too.
  std::string text() const;
  bool operator==(const FileIdentity&) const = default;
};

class DigestMemory {
 public:
  // `folder` is where the digests are kept; empty: nowhere, then nothing is ever remembered.
  explicit DigestMemory(std::string folder)
      : DigestMemory(base::PrivateFolder(std::move(folder))) {}
  explicit DigestMemory(base::PrivateFolder folder) : folder_(std::move(folder)) {}

  // $XDG_STATE_HOME/precast/plugin-digests, else below ~/.local/state.
  static DigestMemory of_user();

  // Nothing unless the folder is ours and private, and the entry is whole and for `identity`.
  // Nothing for a young file: see limits::kPluginDigestMinAgeSeconds.
  std::optional<Digest> recall(const FileIdentity& identity) const;
  // Does nothing when it cannot or must not.
  void remember(const FileIdentity& identity, const Digest& digest) const;

 private:
  base::PrivateFolder folder_;
};

}  // namespace precast::pjrt
