// The quarantine: where bad entries are set aside, so that people can look at what happened, and so
// that each is compiled again once and not at every lookup.
//
//   <root>/v1/quarantine/<name>.<when>.<random>.bad      what was in the entry's place
//   <root>/v1/quarantine/<name>.<when>.<random>.reason   lines of "name: value"
//
// Nothing here is ever read as an entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "precast/result.h"
#include "store/file_ops.h"
#include "store/folder.h"
#include "store/store.h"

namespace precast::store {

inline constexpr const char* kQuarantine = "quarantine";

// What is kept: beyond either, the oldest go. The newest always stays.
inline constexpr std::size_t kMaxQuarantined = 64;
inline constexpr std::uint64_t kMaxQuarantineBytes = std::uint64_t{1} << 30;

struct Quarantined {
  std::string name;  // of the entry
  std::string path;
  std::uint64_t bytes = 0;  // 0 for what is no regular file
  std::int64_t unix_s = 0;  // when it was set aside
  bool removable = true;    // no folder, which could hold anything
  std::string reason;       // these are empty where the note is missing
  std::string host;
  std::string version;  // of the Precast that set it aside
};

// Sets aside what is in the place of entry `name` in `folder`, if it is the file of `identity`;
// else false. `layout` is the folder above. Afterwards the quarantine is within its bounds. A note
// that cannot be written (the disk is full) is no fault.
Result<bool> set_aside(FileOps& ops, const Folder& layout, const Folder& folder,
                       std::string_view name, const FileIdentity& identity,
                       const std::string& reason);

// What is in the quarantine, the oldest first.
Result<std::vector<Quarantined>> quarantined(FileOps& ops, const Folder& layout);

// Removes what is beyond the bounds, or older than `before_unix_s`, notes without what they are
// about, and unfinished files that are as old. Returns how many files and bytes went. Folders are
// never removed.
struct Trimmed {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};
Result<Trimmed> trim_quarantine(FileOps& ops, const Folder& layout, std::int64_t before_unix_s = 0);

}  // namespace precast::store
