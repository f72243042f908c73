#include "store/quarantine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <set>
#include <utility>

#include "base/host.h"
#include "precast/version.h"
#include "store/entry_file.h"
#include "store/layout.h"
#include "store/listing.h"
#include "store/trust.h"

namespace precast::store {
namespace {

constexpr std::string_view kBad = ".bad";
constexpr std::string_view kReason = ".reason";
constexpr std::uint64_t kMaxNoteBytes = 16 << 10;
constexpr std::size_t kMaxReasonBytes = 4 << 10;

// Renames across folders, and never onto something that is there: where the file system knows no
// flags, a plain rename does only if nothing can be there.
int rename_to_new_name(FileOps& ops, const Folder& from, const std::string& name, const Folder& to,
                       const std::string& fresh) {
  const auto rename_with = [&](unsigned flags) {
    return uninterrupted([&] {
      return ops.renameat2(from.fd.get(), name.c_str(), to.fd.get(), fresh.c_str(), flags);
    });
  };
  const int renamed = rename_with(RENAME_NOREPLACE);
  return renamed != 0 && (errno == EINVAL || errno == ENOSYS) ? rename_with(0) : renamed;
}

// Puts back what was moved by mistake, unless a newer one is in its place by now: then that one
// counts, and the other goes.
Result<void> put_back(FileOps& ops, const Folder& quarantine, const std::string& moved,
                      const Folder& folder, const std::string& name) {
  const auto move_to = [&](const std::string& to, unsigned flags) {
    return uninterrupted([&] {
      return ops.renameat2(quarantine.fd.get(), moved.c_str(), folder.fd.get(), to.c_str(), flags);
    });
  };
  if (move_to(name, RENAME_NOREPLACE) == 0) return {};
  if (errno == EEXIST) {
    PRECAST_TRY(remove_file(ops, quarantine, moved));
    return {};
  }
  if (errno != EINVAL && errno != ENOSYS) {
    return fault(errno, fmt::format("cannot move '{}/{}' back", quarantine.path, moved));
  }
  // Without flags: a second name is given only where there is none.
  PRECAST_ASSIGN(const std::string random, random_name_part());
  const std::string temporary = fmt::format("{}{}-{}", kTemporaryPrefix, ::getpid(), random);
  if (move_to(temporary, 0) != 0) {
    return fault(errno, fmt::format("cannot move '{}/{}' back", quarantine.path, moved));
  }
  const int linked =
      uninterrupted([&] { return ops.linkat(folder.fd.get(), temporary.c_str(), name.c_str()); });
  const int error = errno;
  PRECAST_TRY(remove_file(ops, folder, temporary));
  if (linked == 0 || error == EEXIST) return {};
  return fault(error, fmt::format("cannot name '{}/{}' again", folder.path, name));
}

// A note is read by lines, so nothing in it may begin one.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text.substr(0, kMaxReasonBytes);
}

std::string note_of(std::string_view name, std::int64_t now, const std::string& reason) {
  return fmt::format("key: {}\nwhen: {}\nhost: {}\nversion: {}\nreason: {}\n", name, now,
                     one_line(base::host_name()), PRECAST_VERSION, one_line(reason));
}

std::string line_of(const std::string& note, const std::string& name) {
  const std::string begin = name + ": ";
  std::size_t at = 0;
  while (at < note.size()) {
    const std::size_t end = std::min(note.find('\n', at), note.size());
    if (note.compare(at, begin.size(), begin) == 0) {
      return note.substr(at + begin.size(), end - at - begin.size());
    }
    at = end + 1;
  }
  return {};
}

void read_note(FileOps& ops, const Folder& quarantine, const std::string& stem,
               Quarantined& found) {
  const auto file = open_entry_file(ops, quarantine, stem + std::string(kReason));
  if (!file || !*file || (*file)->bytes() > kMaxNoteBytes) return;
  const auto note = (*file)->read(0, (*file)->bytes());
  if (!note) return;
  found.reason = line_of(*note, "reason");
  found.host = line_of(*note, "host");
  found.version = line_of(*note, "version");
}

// "<name>.<when>.<random>" with its parts; nothing for what is called otherwise.
std::optional<Quarantined> parse(std::string_view stem) {
  if (stem.size() < kNameDigits + 2 || !is_name(stem.substr(0, kNameDigits)) ||
      stem[kNameDigits] != '.') {
    return std::nullopt;
  }
  Quarantined found;
  found.name = stem.substr(0, kNameDigits);
  const std::string_view rest = stem.substr(kNameDigits + 1);
  const char* end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data(), end, found.unix_s);
  if (error != std::errc() || stop == end || *stop != '.') return std::nullopt;
  return found;
}

Result<void> add_one(FileOps& ops, const Folder& quarantine, const std::string& file,
                     std::vector<Quarantined>& all) {
  if (!file.ends_with(kBad)) return {};
  const std::string stem = file.substr(0, file.size() - kBad.size());
  std::optional<Quarantined> found = parse(stem);
  if (!found) return {};
  PRECAST_ASSIGN(const std::optional<struct stat> status, look_at(ops, quarantine, file));
  if (!status) return {};
  found->path = quarantine.path + "/" + file;
  if (S_ISREG(status->st_mode)) found->bytes = identity_of(*status).bytes;
  found->removable = !S_ISDIR(status->st_mode);
  read_note(ops, quarantine, stem, *found);
  all.push_back(*std::move(found));
  return {};
}

Result<std::vector<Quarantined>> list(FileOps& ops, const Folder& quarantine) {
  PRECAST_ASSIGN(const std::vector<std::string> names, names_in(ops, quarantine));
  std::vector<Quarantined> all;
  for (const std::string& name : names) PRECAST_TRY(add_one(ops, quarantine, name, all));
  std::stable_sort(all.begin(), all.end(),
                   [](const Quarantined& a, const Quarantined& b) { return a.unix_s < b.unix_s; });
  return all;
}

std::string file_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string note_for(const std::string& bad) {
  return bad.substr(0, bad.size() - kBad.size()) + std::string(kReason);
}

// What is left of writers that were killed, and notes about what is gone.
Result<void> remove_litter(FileOps& ops, const Folder& quarantine, std::int64_t before_unix_s) {
  PRECAST_ASSIGN(const std::vector<std::string> names, names_in(ops, quarantine));
  const std::set<std::string> there(names.begin(), names.end());
  for (const std::string& name : names) {
    const bool orphan =
        name.ends_with(kReason) &&
        !there.contains(name.substr(0, name.size() - kReason.size()) + std::string(kBad));
    if (!orphan && !name.starts_with(kTemporaryPrefix)) continue;
    PRECAST_ASSIGN(const std::optional<struct stat> status, look_at(ops, quarantine, name));
    if (!status || !S_ISREG(status->st_mode) || status->st_mtime >= before_unix_s) continue;
    PRECAST_TRY(remove_file(ops, quarantine, name));
  }
  return {};
}

Result<Trimmed> trim(FileOps& ops, const Folder& quarantine, std::int64_t before_unix_s) {
  PRECAST_ASSIGN(std::vector<Quarantined> all, list(ops, quarantine));
  std::size_t count = all.size();
  std::uint64_t bytes = 0;
  for (const Quarantined& one : all) bytes += one.bytes;
  Trimmed trimmed;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Quarantined& one = all[i];
    const bool newest = i + 1 == all.size();
    const bool beyond = !newest && (count > kMaxQuarantined || bytes > kMaxQuarantineBytes);
    if (!one.removable || !(beyond || one.unix_s < before_unix_s)) continue;
    const std::string file = file_of(one.path);
    PRECAST_ASSIGN(const bool removed, remove_file(ops, quarantine, file));
    PRECAST_TRY(remove_file(ops, quarantine, note_for(file)));
    --count;
    bytes -= one.bytes;
    if (!removed) continue;  // another process was faster
    ++trimmed.files;
    trimmed.bytes += one.bytes;
  }
  return trimmed;
}

}  // namespace

Result<bool> set_aside(FileOps& ops, const Folder& layout, const Folder& folder,
                       std::string_view name, const FileIdentity& identity,
                       const std::string& reason) {
  const std::string file = file_name(name);
  // A look before anything moves: what others read now should not vanish for a moment.
  PRECAST_ASSIGN(const std::optional<struct stat> before, look_at(ops, folder, file));
  if (!before || identity_of(*before) != identity) return false;
  PRECAST_ASSIGN(const Folder quarantine, ensure_folder(ops, layout, kQuarantine));
  PRECAST_ASSIGN(const std::string random, random_name_part());
  const auto now = static_cast<std::int64_t>(std::time(nullptr));
  const std::string stem = fmt::format("{}.{}.{}", name, now, random);
  const std::string moved = stem + std::string(kBad);
  if (rename_to_new_name(ops, folder, file, quarantine, moved) != 0) {
    if (errno == ENOENT) return false;
    return fault(errno,
                 fmt::format("cannot move '{}/{}' to '{}'", folder.path, file, quarantine.path));
  }
  const auto after = look_at(ops, quarantine, moved);
  if (!after || !*after || identity_of(**after) != identity) {
    // Replaced between the look and the move. Whatever it is, it belongs where it was.
    PRECAST_TRY(put_back(ops, quarantine, moved, folder, file));
    if (!after) return after.error();
    return false;
  }
  // A note is worth having and not worth failing for.
  static_cast<void>(
      write_entry(ops, quarantine, stem + std::string(kReason), note_of(name, now, reason)));
  static_cast<void>(trim(ops, quarantine, 0));
  return true;
}

Result<std::vector<Quarantined>> quarantined(FileOps& ops, const Folder& layout) {
  PRECAST_ASSIGN(const std::optional<Folder> quarantine, open_folder(ops, layout, kQuarantine));
  if (!quarantine) return std::vector<Quarantined>();
  return list(ops, *quarantine);
}

Result<Trimmed> trim_quarantine(FileOps& ops, const Folder& layout, std::int64_t before_unix_s) {
  PRECAST_ASSIGN(const std::optional<Folder> quarantine, open_folder(ops, layout, kQuarantine));
  if (!quarantine) return Trimmed();
  PRECAST_ASSIGN(const Trimmed trimmed, trim(ops, *quarantine, before_unix_s));
  PRECAST_TRY(remove_litter(ops, *quarantine, before_unix_s));
  return trimmed;
}

}  // namespace precast::store
