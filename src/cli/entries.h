// The entries that ls, rm and clear talk about.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/verb_options.h"
#include "precast/cache_folder.h"

namespace precast::cli {

// Which cache a verb looks after.
struct CacheChoice {
  std::string directory;   // empty: the default
  std::string name_space;  // empty: PRECAST_NAMESPACE, else none

  // --cache and --namespace.
  void add_to(VerbOptions& verb);
};
// --namespace alone, its value checked.
void add_name_space_option(VerbOptions& verb, std::string& name_space);

// The folder, for messages also when there is none.
struct OpenedFolder {
  std::string wanted;                 // as asked for, or the default
  std::optional<CacheFolder> folder;  // nothing when nobody has made it yet
};
Result<OpenedFolder> open_folder(const CacheChoice& choice);

// The shortest beginning of a key that people are shown.
inline constexpr std::size_t kShortKeyDigits = 12;
// The shortest beginning of a key that names an entry.
inline constexpr std::size_t kLeastKeyDigits = 4;

// The entries, also those that cannot be used (without size and time).
std::vector<CacheEntry> all_entries(const CacheContents& contents);

// How many digits tell all these keys apart, at least kShortKeyDigits.
std::size_t telling_digits(const std::vector<CacheEntry>& entries);

// The entry that a word of the command line means: the beginning of its key, in either case.
// Errors as find_entry(); `out` is advised.
Result<CacheEntry> named_entry(const std::vector<CacheEntry>& entries, const std::string& word,
                               const std::string& folder, Output& out);

// The notes of pinned keys.
Result<std::map<std::string, std::string>> pinned_keys(const CacheFolder& folder);

// "its note", or "no note".
std::string note_text(const std::string& note);

// The digits A to F in lower case.
std::string lower_digits(std::string text);

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
