#include "stats/fold.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stats/snapshot.h"

namespace precast::stats {
namespace {

// How many files one fold takes, so that it is done in a moment.
constexpr std::size_t kMaxFilesAtOnce = 4096;

Result<Snapshot> read_snapshot(const Folder& folder, const std::string& name) {
  PRECAST_ASSIGN(const Bytes bytes, folder.read(name));
  return Snapshot::decode(bytes);
}

bool is_old(const Folder& folder, const std::string& name) {
  const std::optional<std::int64_t> age = folder.age_s(name);
  return age && *age > kForeignDays * kDay;
}

std::size_t files_of_processes(const std::vector<std::string>& names) {
  return static_cast<std::size_t>(std::count_if(
      names.begin(), names.end(),
      [](const std::string& name) { return is_process_file(name) || is_unfinished(name); }));
}

// What processes left that are no more. Removes what is of no use to anybody.
std::map<std::string, Totals> read_ended(const Folder& folder,
                                         const std::vector<std::string>& names) {
  const std::string here = this_place();
  std::map<std::string, Totals> read;
  for (const std::string& name : names) {
    const bool old = is_old(folder, name);
    if (is_unfinished(name) && old) folder.remove(name);
    if (!is_process_file(name) || read.size() == kMaxFilesAtOnce) continue;
    if (!old && !has_ended(name, here)) continue;
    auto snapshot = read_snapshot(folder, name);
    if (snapshot) {
      read.emplace(name, std::move(snapshot->totals));
    } else if (old && snapshot.error().code() == ErrorCode::corrupt) {
      folder.remove(name);
    }
  }
  return read;
}

// Nothing when there is a file that cannot be added to. A damaged one stays in sight, out of the
// way.
std::optional<Snapshot> read_month(const Folder& folder, const std::string& name) {
  if (!folder.has(name)) return Snapshot();
  auto snapshot = read_snapshot(folder, name);
  if (snapshot) return std::move(snapshot).value();
  if (snapshot.error().code() != ErrorCode::corrupt || !folder.rename(name, kDamaged + name)) {
    return std::nullopt;
  }
  return Snapshot();
}

using Months = std::map<std::string, Snapshot>;

// The months of the counts, with them. A month that names a file has its part already: a fold was
// killed before it removed the file.
std::optional<Months> add_up(const Folder& folder, const std::map<std::string, Totals>& files) {
  Months months;
  for (const auto& [file, totals] : files) {
    for (const auto& [key, cell] : totals.cells()) {
      const std::string name = month_file(key.start_s);
      auto month = months.find(name);
      if (month == months.end()) {
        std::optional<Snapshot> before = read_month(folder, name);
        if (!before) return std::nullopt;
        month = months.emplace(name, *std::move(before)).first;
      }
      if (!month->second.folded.contains(file)) month->second.totals.add(key, cell);
    }
  }
  return months;
}

bool write_month(const Folder& folder, const std::string& name, Snapshot& month,
                 const std::map<std::string, Totals>& files, std::int64_t now_unix_s) {
  std::erase_if(month.folded, [&](const std::string& file) { return !folder.has(file); });
  for (const auto& [file, totals] : files) month.folded.insert(file);
  month.totals.join_days(now_unix_s - kHourlyDays * kDay);
  const Bytes bytes = month.encode_bounded(now_unix_s);
  return bytes.size() <= kMaxFileBytes && folder.write(name, bytes, base::Flush::yes).has_value();
}

void remove_old_months(const Folder& folder, std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) { return !is_month_file(name); });
  std::sort(names.begin(), names.end());
  for (std::size_t i = 0; i + kMaxMonths < names.size(); ++i) folder.remove(names[i]);
}

}  // namespace

void fold(Folder& folder, std::size_t most, std::int64_t now_unix_s) {
  constexpr int kPatienceMs = 20;
  auto names = folder.names();
  if (!names || files_of_processes(*names) <= most) return;
  if (!folder.lock(Folder::With::nobody, kPatienceMs)) return;
  names = folder.names();  // another fold may have ended a moment ago
  if (!names) return;
  const std::map<std::string, Totals> files = read_ended(folder, *names);
  std::optional<Months> months = add_up(folder, files);
  if (!months) return;
  // Every month is on the disk before a file is removed that it holds.
  for (auto& [name, month] : *months) {
    if (!write_month(folder, name, month, files, now_unix_s)) return;
  }
  for (const auto& [file, totals] : files) folder.remove(file);
  remove_old_months(folder, *names);
}

}  // namespace precast::stats
