// Pins: entries that no collection removes.
//
//   <root>/v1/pins/<name>    the file is the pin; what is in it is a note for people
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "precast/result.h"
#include "store/file_ops.h"
#include "store/folder.h"

namespace precast::store {

inline constexpr const char* kPins = "pins";
// A longer note is cut.
inline constexpr std::size_t kMaxPinNoteBytes = 1 << 10;

struct Pin {
  std::string name;  // of the entry, which may be missing
  std::string note;
  std::int64_t unix_s = 0;
};

// Pins an entry, there or not; an older note is replaced. Control characters of the note become
// spaces.
Result<void> pin(FileOps& ops, const Folder& layout, std::string_view name,
                 const std::string& note);
// False when it was not pinned.
Result<bool> unpin(FileOps& ops, const Folder& layout, std::string_view name);
// By name.
Result<std::vector<Pin>> list_pins(FileOps& ops, const Folder& layout);

// The names alone, sorted.
Result<std::vector<std::string>> pinned_names(FileOps& ops, const Folder& layout);

// Asks for a single name, as things are now.
Result<bool> is_pinned(FileOps& ops, const Folder& layout, const std::string& name);

}  // namespace precast::store
