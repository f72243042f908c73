// The entries that ls, rm and clear talk about.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/verb_options.h"
#include "precast/cache_folder.h"

namespace precast::cli {

// --cache, for a verb that looks after a folder.
void add_cache_option(VerbOptions& verb, std::string& directory);

// The folder, for messages also when there is none.
struct OpenedFolder {
  std::string wanted;                 // as asked for, or the default
  std::optional<CacheFolder> folder;  // nothing when nobody has made it yet
};
Result<OpenedFolder> open_folder(const std::string& directory);

// The shortest beginning of a key that people are shown.
inline constexpr std::size_t kShortKeyDigits = 12;
// The shortest beginning of a key that names an entry.
inline constexpr std::size_t kLeastKeyDigits = 4;

// The entries, also those that cannot be used (without size and time).
std::vector<CacheEntry> all_entries(const CacheContents& contents);

// How many digits tell all these keys apart, at least kShortKeyDigits.
std::size_t telling_digits(const std::vector<CacheEntry>& entries);

// Whether a word can only be meant as the beginning of a key.
bool is_key_prefix(const std::string& word);

// The one entry whose key begins with `prefix`. invalid_argument when there is none (with the
// nearest key, if there is one near) or several (with some of them).
Result<CacheEntry> find_entry(const std::vector<CacheEntry>& entries, const std::string& prefix,
                              const std::string& folder);

// A warning for each unusable entry and folder.
void warn_about_unusable(const CacheContents& contents, Output& out);
Json json_of(const std::vector<CacheContents::Unusable>& unusable);

}  // namespace precast::cli
