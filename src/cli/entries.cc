#include "cli/entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/text.h"
#include "precast/cache.h"

namespace precast::cli {
namespace {

constexpr std::size_t kKeyDigits = 64;

std::size_t common_prefix(const std::string& a, const std::string& b) {
  const auto [end, unused] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end - a.begin());
}

// The key whose beginning is nearest to a mistyped one.
std::string nearest_key(const std::vector<CacheEntry>& entries, const std::string& prefix) {
  std::vector<std::string> beginnings;
  beginnings.reserve(entries.size());
  for (const CacheEntry& entry : entries) {
    beginnings.push_back(entry.key.substr(0, prefix.size()));
  }
  const std::string nearest = nearest_word(prefix, beginnings);
  // Of a few digits, one that is right says nothing.
  return prefix.size() < 2 * kLeastKeyDigits ? "" : nearest;
}

}  // namespace

void CacheChoice::add_to(VerbOptions& verb) {
  verb.add(directory,
           {.names = "--cache", .help = "cache folder", .value = "DIR", .group = "Cache"});
  add_name_space_option(verb, name_space);
}

void add_name_space_option(VerbOptions& verb, std::string& name_space) {
  verb.add(name_space, {.names = "--namespace",
                        .help = "entries of their own below the folder",
                        .value = "NAME",
                        .group = "Cache",
                        .check = [](const std::string& name) {
                          const auto valid = check_name_space(name);
                          return valid ? std::string() : valid.error().message();
                        }});
}

Result<OpenedFolder> open_folder(const CacheChoice& choice) {
  OpenedFolder opened{choice.directory, std::nullopt};
  if (opened.wanted.empty()) {
    PRECAST_ASSIGN(DefaultDirectory found, default_cache_directory());
    opened.wanted = std::move(found.path);
  }
  const std::string name_space =
      choice.name_space.empty() ? default_name_space() : choice.name_space;
  PRECAST_ASSIGN(opened.folder, CacheFolder::open(opened.wanted, name_space));
  if (opened.folder) {
    opened.wanted = opened.folder->path();
  } else if (!name_space.empty()) {
    opened.wanted += "/namespaces/" + name_space;
  }
  return opened;
}

Result<CacheEntry> named_entry(const std::vector<CacheEntry>& entries, const std::string& word,
                               const std::string& folder, Output& out) {
  const std::string prefix = lower_digits(word);
  if (is_key_prefix(prefix)) {
    auto entry = find_entry(entries, prefix, folder);
    if (!entry) out.advise("'precast ls' shows the keys");
    return entry;
  }
  out.advise("'precast ls' shows the keys");
  return Error(ErrorCode::invalid_argument,
               fmt::format("'{}' is not the beginning of a key", printable(word, 100)));
}

Result<std::map<std::string, std::string>> pinned_keys(const CacheFolder& folder) {
  PRECAST_ASSIGN(const std::vector<CachePin> pins, folder.pins());
  std::map<std::string, std::string> notes;
  for (const CachePin& pin : pins) notes.emplace(pin.key, pin.note);
  return notes;
}

std::string note_text(const std::string& note) {
  return note.empty() ? "no note" : "note: " + printable(note);
}

std::string lower_digits(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c; });
  return text;
}

std::size_t telling_digits(const std::vector<CacheEntry>& entries) {
  std::vector<std::string> keys;
  keys.reserve(entries.size());
  for (const CacheEntry& entry : entries) keys.push_back(entry.key);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::size_t digits = kShortKeyDigits;
  for (std::size_t i = 1; i < keys.size(); ++i) {
    digits = std::max(digits, common_prefix(keys[i - 1], keys[i]) + 1);
  }
  return std::min(digits, kKeyDigits);
}

bool is_key_prefix(const std::string& word) {
  return !word.empty() && word.size() <= kKeyDigits &&
         word.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::vector<CacheEntry> all_entries(const CacheContents& contents) {
  std::vector<CacheEntry> entries = contents.entries;
  for (const CacheContents::Unusable& unusable : contents.unusable) {
    if (!unusable.key.empty()) entries.push_back({unusable.key, unusable.path, 0, 0});
  }
  return entries;
}

Result<CacheEntry> find_entry(const std::vector<CacheEntry>& entries, const std::string& prefix,
                              const std::string& folder) {
  if (prefix.size() < kLeastKeyDigits) {
    return Error(ErrorCode::invalid_argument,
                 fmt::format("'{}' is too short to name an entry: give at least {} digits of its "
                             "key",
                             prefix, kLeastKeyDigits));
  }
  std::vector<const CacheEntry*> found;
  for (const CacheEntry& entry : entries) {
    if (entry.key.starts_with(prefix)) found.push_back(&entry);
  }
  if (found.size() == 1) return *found.front();
  if (found.empty()) {
    const std::string nearest = nearest_key(entries, prefix);
    return Error(ErrorCode::invalid_argument,
                 fmt::format("no entry of '{}' has a key that begins with '{}'{}", folder, prefix,
                             nearest.empty() ? "" : "; did you mean " + nearest + "?"));
  }
  std::vector<std::string> some;
  constexpr std::size_t kShown = 3;
  const std::size_t digits = telling_digits(entries);
  for (std::size_t i = 0; i < std::min(found.size(), kShown); ++i) {
    some.push_back(found[i]->key.substr(0, digits));
  }
  return Error(
      ErrorCode::invalid_argument,
      fmt::format("{} entries of '{}' have keys that begin with '{}' ({}{}); give more digits",
                  found.size(), folder, prefix, joined(some),
                  found.size() > kShown ? ", \u2026" : ""));
}

void warn_about_unusable(const CacheContents& contents, Output& out) {
  for (const CacheContents::Unusable& unusable : contents.unusable) {
    out.warning(unusable.error.to_string());
  }
}

Json json_of(const std::vector<CacheContents::Unusable>& unusable) {
  Json list = Json::array();
  for (const auto& [key, path, error] : unusable) {
    Json entry = {{"path", path}};
    entry.update(json_of(error));
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace precast::cli
