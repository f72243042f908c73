#include "store/pins.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "store/entry_file.h"
#include "store/listing.h"
#include "store/store.h"

namespace precast::store {
namespace {

std::string clean(std::string note) {
  note = note.substr(0, kMaxPinNoteBytes);
  std::replace_if(
      note.begin(), note.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return note;
}

}  // namespace

Result<void> pin(FileOps& ops, const Folder& layout, std::string_view name,
                 const std::string& note) {
  PRECAST_TRY(check_name(name));
  PRECAST_ASSIGN(const Folder folder, ensure_folder(ops, layout, kPins));
  return write_entry(ops, folder, std::string(name), clean(note));
}

Result<bool> unpin(FileOps& ops, const Folder& layout, std::string_view name) {
  PRECAST_TRY(check_name(name));
  PRECAST_ASSIGN(const std::optional<Folder> folder, open_folder(ops, layout, kPins));
  if (!folder) return false;
  return remove_file(ops, *folder, std::string(name));
}

Result<std::vector<Pin>> list_pins(FileOps& ops, const Folder& layout) {
  std::vector<Pin> pins;
  PRECAST_ASSIGN(const std::optional<Folder> folder, open_folder(ops, layout, kPins));
  if (!folder) return pins;
  PRECAST_ASSIGN(const std::vector<std::string> names, names_in(ops, *folder));
  for (const std::string& name : names) {
    if (!is_name(name)) continue;
    Pin found{name, {}, 0};
    // Whatever it is, its name is there, and that is the pin.
    const auto file = open_entry_file(ops, *folder, name);
    if (file && !*file) continue;  // unpinned meanwhile
    if (file) {
      found.unix_s = (*file)->modified_unix_s();
      auto note = (*file)->read(0, std::min<std::uint64_t>((*file)->bytes(), kMaxPinNoteBytes));
      if (note) found.note = clean(*std::move(note));
    }
    pins.push_back(std::move(found));
  }
  return pins;
}

Result<std::vector<std::string>> pinned_names(FileOps& ops, const Folder& layout) {
  PRECAST_ASSIGN(const std::optional<Folder> folder, open_folder(ops, layout, kPins));
  if (!folder) return std::vector<std::string>();
  PRECAST_ASSIGN(std::vector<std::string> names, names_in(ops, *folder));
  std::erase_if(names, [](const std::string& name) { return !is_name(name); });
  return names;
}

Result<bool> is_pinned(FileOps& ops, const Folder& layout, const std::string& name) {
  PRECAST_ASSIGN(const std::optional<Folder> folder, open_folder(ops, layout, kPins));
  if (!folder) return false;
  PRECAST_ASSIGN(const std::optional<struct stat> status, look_at(ops, *folder, name));
  return status.has_value();
}

}  // namespace precast::store
