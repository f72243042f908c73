// The entries and records that come nearest to a key record.
#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cache/misses.h"
#include "cache/rank.h"
#include "precast/cache_folder.h"
#include "precast/explain.h"
#include "precast/limits.h"

namespace precast {
namespace {

// Where a candidate is, and how near it came.
struct Candidate {
  cache::Nearness nearness;
  std::string key;
  std::string path;  // of a record; an entry is found by its key
  bool stored = false;
};

std::string state_folder(const RecordPlaces& places) {
  if (!places.state_directory.empty()) return places.state_directory;
  auto found = default_state_directory();
  return found ? std::move(found)->path : std::string();
}

// The key that the name of a record stands for.
std::string key_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

std::vector<std::string> miss_paths(const RecordPlaces& places) {
  const std::string state = state_folder(places);
  return state.empty() ? std::vector<std::string>() : cache::kept_misses(state);
}

// The entries of the folder, the newest first.
Result<std::vector<CacheEntry>> entries_of(const std::optional<CacheFolder>& folder) {
  if (!folder) return std::vector<CacheEntry>();
  PRECAST_ASSIGN(CacheContents contents, folder->contents());
  std::ranges::sort(contents.entries, std::greater<>(), &CacheEntry::modified_unix_s);
  return std::move(contents.entries);
}

class Search {
 public:
  Search(const SavedRecord& asked, const RecordPlaces& places)
      : asked_(asked), key_(asked.record.digest().hex()), places_(places) {}

  Nearest run(std::size_t most) {
    if (const Result<void> looked = look_at_entries(); !looked) {
      found_.problem = looked.error().to_string();
    }
    look_at_records();
    std::ranges::sort(candidates_, std::greater<>(), &Candidate::nearness);
    for (const Candidate& candidate : candidates_) {
      if (found_.entries.size() >= most) break;
      add(candidate);
    }
    return std::move(found_);
  }

 private:
  Result<void> look_at_entries() {
    PRECAST_ASSIGN(folder_, CacheFolder::open(places_.directory));
    PRECAST_ASSIGN(const std::vector<CacheEntry> entries, entries_of(folder_));
    for (const CacheEntry& entry : entries) {
      if (entry.key == key_) continue;
      if (candidates_.size() >= limits::kMaxNearestCandidates) {
        ++found_.left_out;
        continue;
      }
      ++found_.looked_at;
      const auto record = folder_->saved_record(entry.key, CacheFolder::Outlines::without);
      // An entry may go while others are looked at.
      if (!record || !*record) {
        ++found_.unreadable;
        continue;
      }
      seen_.insert(entry.key);
      candidates_.push_back({cache::nearness_of(asked_, **record), entry.key, entry.path, true});
    }
    return {};
  }

  void look_at_records() {
    for (const std::string& path : miss_paths(places_)) {
      const std::string key = key_of(path);
      if (key == key_ || seen_.contains(key)) continue;
      ++found_.looked_at;
      const auto record = SavedRecord::from_file(path);
      if (!record) {
        ++found_.unreadable;
        continue;
      }
      candidates_.push_back({cache::nearness_of(asked_, *record), key, path, false});
    }
  }

  void add(const Candidate& candidate) {
    std::optional<SavedRecord> saved;
    if (candidate.stored) {
      auto read = folder_->saved_record(candidate.key, CacheFolder::Outlines::with);
      if (read) saved = *std::move(read);
    } else if (auto read = SavedRecord::from_file(candidate.path)) {
      saved = *std::move(read);
    }
    if (!saved) return;
    NearEntry entry;
    entry.key = saved->record.digest();
    entry.path = candidate.path;
    entry.stored = candidate.stored;
    entry.shared_fields = candidate.nearness.shared_fields;
    entry.differences = compare(asked_, *saved);
    entry.entry = *std::move(saved);
    found_.entries.push_back(std::move(entry));
  }

  const SavedRecord& asked_;
  const std::string key_;
  const RecordPlaces& places_;
  std::optional<CacheFolder> folder_;
  std::vector<Candidate> candidates_;
  std::set<std::string> seen_;
  Nearest found_;
};

}  // namespace

Nearest nearest(const SavedRecord& asked, const RecordPlaces& places, std::size_t most) {
  return Search(asked, places).run(most);
}

Result<SavedRecord> find_saved_record(const std::string& key_prefix, const RecordPlaces& places) {
  std::set<std::string> keys;
  // The record that a request left says more than the entry: what became of the request.
  std::optional<std::string> path;
  for (const std::string& each : miss_paths(places)) {
    if (!key_of(each).starts_with(key_prefix)) continue;
    keys.insert(key_of(each));
    path = each;
  }
  std::optional<CacheFolder> folder;
  const Result<void> looked = [&]() -> Result<void> {
    PRECAST_ASSIGN(folder, CacheFolder::open(places.directory));
    PRECAST_ASSIGN(const std::vector<CacheEntry> entries, entries_of(folder));
    for (const CacheEntry& entry : entries) {
      if (entry.key.starts_with(key_prefix)) keys.insert(entry.key);
    }
    return {};
  }();
  if (!looked && keys.empty()) return looked.error();
  if (keys.size() != 1) {
    return Error(
        ErrorCode::invalid_argument,
        keys.empty()
            ? fmt::format("no entry and no record of an earlier compile has a key that "
                          "begins with '{}'",
                          key_prefix)
            : fmt::format("{} keys begin with '{}', {} and {} among them; give more digits",
                          keys.size(), key_prefix, *keys.begin(), *keys.rbegin()));
  }
  if (path) return SavedRecord::from_file(*path);
  PRECAST_ASSIGN(std::optional<SavedRecord> saved,
                 folder->saved_record(*keys.begin(), CacheFolder::Outlines::with));
  if (saved) return *std::move(saved);
  return Error(ErrorCode::invalid_argument,
               fmt::format("the entry {} was removed while it was looked for", *keys.begin()));
}

}  // namespace precast
