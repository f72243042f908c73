#include "proto/flags_parse.h"

#include <algorithm>
#include <map>
#include <set>

#include "proto/flag_rules.h"
#include "proto/flag_words.h"
#include "proto/scalar_text.h"

namespace precast::proto {
namespace {

// One flag as it stands in the text.
struct Occurrence {
  std::string name;
  std::optional<FlagRule> rule;
  // Of a list or a map: its elements; else one value.
  std::vector<Bytes> values;
};

bool counts_last(FlagKind kind) { return kind <= FlagKind::upper_text; }

template <typename Convert>
Bytes converted(std::string_view text, Convert convert) {
  Bytes result(text);
  std::ranges::transform(result, result.begin(), convert);
  return result;
}

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char to_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::vector<Bytes> split_at_commas(std::string_view text) {
  std::vector<Bytes> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::vector<Bytes> split_at_white_space(std::string_view text) {
  constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
  std::vector<Bytes> words;
  for (;;) {
    const std::size_t begin = text.find_first_not_of(kWhiteSpace);
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(text.find_first_of(kWhiteSpace, begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

// Entries "key=value", sorted; of a key the last stands. A bare key has the empty value.
std::vector<Bytes> merged_map(const std::vector<Bytes>& entries) {
  std::map<Bytes, Bytes> by_key;
  for (const Bytes& entry : entries) {
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const bool bare = equals == entry.size();
    by_key[entry.substr(0, equals)] = bare ? entry + "=" : entry;
  }
  std::vector<Bytes> merged;
  for (auto& [key, entry] : by_key) merged.push_back(std::move(entry));
  return merged;
}

enum class ListForm { plain, changes, neither, mixed };

// What a value of a modified list is: a plain list (the empty one too) replaces what was there.
ListForm form_of(std::string_view text) {
  if (text.empty()) return ListForm::plain;
  std::size_t changes = 0;
  std::size_t names = 0;
  const std::vector<Bytes> parts = split_at_commas(text);
  for (const Bytes& part : parts) {
    const std::string_view element = strip_white_space(part);
    if (element.empty()) continue;
    ++(element.starts_with('+') || element.starts_with('-') ? changes : names);
  }
  if (changes == 0) return names == 0 ? ListForm::neither : ListForm::plain;
  return changes == parts.size() ? ListForm::changes : ListForm::mixed;
}

// The values that `text` gives a flag, or why XLA ends the process.
struct Reading {
  std::vector<Bytes> values;
  std::string why;  // empty: the values count
};

Reading refused(std::string why) { return {{}, std::move(why)}; }

Reading read_integer(std::string_view text, int bits) {
  const auto value = read_xla_integer(text, bits);
  if (!value) return refused("is no integer of " + std::to_string(bits) + " bits");
  return {{std::to_string(*value)}, {}};
}

Reading read_value(FlagKind kind, std::string_view text) {
  switch (kind) {
    case FlagKind::boolean: {
      const auto value = read_xla_boolean(text);
      if (!value) return refused("is no boolean; XLA takes true, false, 1 and 0");
      return {{*value ? "true" : "false"}, {}};
    }
    case FlagKind::int32: return read_integer(text, 32);
    case FlagKind::int64: return read_integer(text, 64);
    case FlagKind::float32: {
      auto value = float_effect(text);
      if (!value) return refused("is no number");
      return {{*std::move(value)}, {}};
    }
    case FlagKind::text:
    case FlagKind::whole_list: return {{Bytes(text)}, {}};
    case FlagKind::lower_text: return {{converted(text, to_lower)}, {}};
    case FlagKind::upper_text: return {{converted(text, to_upper)}, {}};
    case FlagKind::comma_list: return {split_at_commas(text), {}};
    case FlagKind::word_list: return {split_at_white_space(text), {}};
    case FlagKind::text_map: return {merged_map(split_at_commas(text)), {}};
    case FlagKind::modified_list:
      if (form_of(text) == ListForm::mixed) {
        return refused("mixes changes (+a, -b) with names; XLA takes one or the other");
      }
      return {{converted(text, to_upper)}, {}};
  }
  return refused("has a kind that is not known");
}

// Reads the words into occurrences.
class Reader {
 public:
  explicit Reader(FlagsText& result) : result_(result) {}

  std::vector<Occurrence> read(std::vector<std::string> words) {
    for (std::string& word : words) {
      if (word == "--") after_dashes_ = true;
      if (after_dashes_) {
        fatal(std::move(word), "stands at or behind '--', where XLA knows no flags");
      } else if (!word.starts_with("--")) {
        fatal(std::move(word), "begins with one dash; XLA's flags begin with two");
      } else {
        read_flag(std::move(word));
      }
    }
    return std::move(occurrences_);
  }

 private:
  void fatal(std::string word, std::string why) {
    result_.fatal.push_back({std::move(word), std::move(why)});
  }

  void read_flag(std::string word) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const bool bare = equals == word.size();
    Occurrence flag{.name = word.substr(2, equals - 2), .rule = {}, .values = {}};
    flag.rule = find_flag_rule(flag.name);
    if (!flag.rule) {
      if (flag.name == "help")
        return fatal(std::move(word), "prints the flags and ends the process");
      flag.values = {word.substr(equals)};
      result_.unknown.push_back(flag.name);
    } else if (bare) {
      if (flag.rule->kind != FlagKind::boolean) return fatal(std::move(word), "needs a value");
      flag.values = {"true"};
    } else {
      Reading reading = read_value(flag.rule->kind, std::string_view(word).substr(equals + 1));
      if (!reading.why.empty()) return fatal(std::move(word), std::move(reading.why));
      flag.values = std::move(reading.values);
    }
    occurrences_.push_back(std::move(flag));
  }

  FlagsText& result_;
  std::vector<Occurrence> occurrences_;
  bool after_dashes_ = false;
};

void append(std::vector<Flag>& flags, const Occurrence& occurrence) {
  for (const Bytes& value : occurrence.values) flags.push_back({occurrence.name, value});
}

using Group = std::vector<const Occurrence*>;

// Of each flag in the group the last occurrence, in the order of these.
void append_last(std::vector<Flag>& flags, const Group& group) {
  std::set<std::string_view> seen;
  Group kept;
  for (auto flag = group.rbegin(); flag != group.rend(); ++flag) {
    if (seen.insert((*flag)->name).second) kept.push_back(*flag);
  }
  for (auto flag = kept.rbegin(); flag != kept.rend(); ++flag) append(flags, **flag);
}

void append_map(std::vector<Flag>& flags, const Group& group) {
  std::vector<Bytes> entries;
  for (const Occurrence* flag : group) {
    entries.insert(entries.end(), flag->values.begin(), flag->values.end());
  }
  append(flags, {group.front()->name, std::nullopt, merged_map(entries)});
}

// A list from its last plain value on. The changes behind it stay as they were given, since older
// plugins take of one flag the first change only.
void append_modified_list(std::vector<Flag>& flags, const Group& group) {
  const auto last_plain = std::ranges::find_if(group.rbegin(), group.rend(), [](const auto* flag) {
    return form_of(flag->values.front()) == ListForm::plain;
  });
  const auto first = last_plain == group.rend() ? group.begin() : std::prev(last_plain.base());
  std::for_each(first, group.end(), [&](const Occurrence* flag) { append(flags, *flag); });
}

void append_group(std::vector<Flag>& flags, const Group& group) {
  if (std::ranges::all_of(group, [](const auto* flag) { return counts_last(flag->rule->kind); })) {
    return append_last(flags, group);
  }
  const bool one_name = std::ranges::all_of(
      group, [&](const auto* flag) { return flag->name == group.front()->name; });
  const FlagKind kind = group.front()->rule->kind;
  if (one_name && kind == FlagKind::text_map) return append_map(flags, group);
  if (one_name && kind == FlagKind::modified_list) return append_modified_list(flags, group);
  for (const Occurrence* flag : group) append(flags, *flag);
}

std::vector<Flag> in_force(const std::vector<Occurrence>& occurrences, bool as_they_stand) {
  std::vector<Flag> flags;
  if (as_they_stand) {
    for (const Occurrence& flag : occurrences) append(flags, flag);
    return flags;
  }
  std::map<std::string_view, Group> groups;
  for (const Occurrence& flag : occurrences) groups[flag.rule->group].push_back(&flag);
  for (const auto& [name, group] : groups) append_group(flags, group);
  return flags;
}

FlagsText parse(BytesView text) {
  FlagsText result;
  FlagWords words = split_flags(text);
  result.ignored_tokens = std::move(words.ignored);
  const std::vector<Occurrence> occurrences = Reader(result).read(std::move(words.words));
  result.effective = in_force(occurrences, !result.unknown.empty());
  const auto is_reset = [](const Occurrence& flag) { return flag.name == "xla_flags_reset"; };
  const auto reset = std::ranges::find_if(occurrences.rbegin(), occurrences.rend(), is_reset);
  result.reads_environment_again =
      reset != occurrences.rend() && reset->values == std::vector<Bytes>{"true"};
  return result;
}

BytesView as_c_string(BytesView text) { return text.substr(0, text.find('\0')); }

}  // namespace

std::optional<std::string> flags_file_path(BytesView text) {
  text = as_c_string(text);
  if (text.empty()) return std::nullopt;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '-') return std::nullopt;
  return std::string(text);
}

FlagsText parse_flags_text(BytesView text) {
  if (auto path = flags_file_path(text)) {
    FlagsText result;
    result.flags_file = std::move(path);
    return result;
  }
  return parse(as_c_string(text));
}

FlagsText parse_flags_file(std::string path, BytesView content) {
  FlagsText result = parse(content);
  result.flags_file = std::move(path);
  return result;
}

}  // namespace precast::proto
