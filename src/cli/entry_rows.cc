#include "cli/entry_rows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "cli/amounts.h"

namespace precast::cli {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

template <typename T>
std::string complaint(const Result<T>& result) {
  return result ? std::string() : result.error().message();
}

}  // namespace

void RowChoice::add_order_to(VerbOptions& verb) {
  verb.add_choice(
      sort_, {"age", "key", "name", "size", "used", "compile"},
      {.names = "--sort", .help = "order (age: the youngest first; used: the last used first)"});
  verb.add(reverse_, {.names = "-r,--reverse", .help = "the other way round"});
}

void RowChoice::add_filters_to(VerbOptions& verb) {
  const std::string group = "Filters";
  const auto age = [](const std::string& text) { return complaint(parse_age(text)); };
  const auto size = [](const std::string& text) { return complaint(parse_size(text)); };
  verb.add(match_, {.names = "--match",
                    .help = "program name or label that holds this, or key",
                    .value = "TEXT",
                    .group = group});
  verb.add(platform_, {.names = "--platform",
                       .help = "only this platform, such as cpu",
                       .value = "NAME",
                       .group = group});
  verb.add(older_than_, {.names = "--older-than",
                         .help = "compiled longer ago: 7d, 12h",
                         .value = "AGE",
                         .group = group,
                         .check = age});
  verb.add(newer_than_, {.names = "--newer-than",
                         .help = "compiled since then",
                         .value = "AGE",
                         .group = group,
                         .check = age});
  verb.add(unused_for_, {.names = "--unused-for",
                         .help = "not used for longer",
                         .value = "AGE",
                         .group = group,
                         .check = age});
  verb.add(larger_than_, {.names = "--larger-than",
                          .help = "larger files: 10MB",
                          .value = "SIZE",
                          .group = group,
                          .check = size});
  verb.add(smaller_than_, {.names = "--smaller-than",
                           .help = "smaller files",
                           .value = "SIZE",
                           .group = group,
                           .check = size});
}

Result<void> RowChoice::filter(std::int64_t now, std::vector<EntryRow>& rows) const {
  std::optional<std::int64_t> older;
  std::optional<std::int64_t> newer;
  std::optional<std::int64_t> unused;
  std::optional<std::uint64_t> larger;
  std::optional<std::uint64_t> smaller;
  if (!older_than_.empty()) {
    PRECAST_ASSIGN(older, parse_age(older_than_));
  }
  if (!newer_than_.empty()) {
    PRECAST_ASSIGN(newer, parse_age(newer_than_));
  }
  if (!unused_for_.empty()) {
    PRECAST_ASSIGN(unused, parse_age(unused_for_));
  }
  if (!larger_than_.empty()) {
    PRECAST_ASSIGN(larger, parse_size(larger_than_));
  }
  if (!smaller_than_.empty()) {
    PRECAST_ASSIGN(smaller, parse_size(smaller_than_));
  }
  std::erase_if(rows, [&](const EntryRow& row) {
    const Provenance& from = row.facts.provenance;
    const std::int64_t age = now - row.made_unix_s();
    return (older && age <= *older) || (newer && age >= *newer) ||
           (unused && now - row.facts.entry.used_unix_s <= *unused) ||
           (larger && row.facts.entry.bytes <= *larger) ||
           (smaller && row.facts.entry.bytes >= *smaller) ||
           (!platform_.empty() && from.platform != platform_) ||
           (!match_.empty() && !contains(from.program_name, match_) &&
            !contains(from.label, match_) && !row.facts.entry.key.starts_with(match_));
  });
  return {};
}

// Names and keys rise; of ages the youngest, of sizes and times the largest comes first.
void RowChoice::sort(std::vector<EntryRow>& rows) const {
  const auto before = [&](const EntryRow& a, const EntryRow& b) {
    const Provenance& left = a.facts.provenance;
    const Provenance& right = b.facts.provenance;
    if (sort_ == "key") return a.facts.entry.key < b.facts.entry.key;
    if (sort_ == "name") {
      return std::pair(left.program_name, left.label) < std::pair(right.program_name, right.label);
    }
    if (sort_ == "size") return a.facts.entry.bytes > b.facts.entry.bytes;
    if (sort_ == "used") return a.facts.entry.used_unix_s > b.facts.entry.used_unix_s;
    if (sort_ == "compile") return left.compile_ms > right.compile_ms;
    return a.made_unix_s() > b.made_unix_s();
  };
  std::sort(rows.begin(), rows.end(), [&](const EntryRow& a, const EntryRow& b) {
    if (before(a, b)) return true;
    if (before(b, a)) return false;
    // Of two alike one always comes first.
    const CacheEntry& left = a.facts.entry;
    const CacheEntry& right = b.facts.entry;
    return std::tie(left.key, left.path) < std::tie(right.key, right.path);
  });
  if (reverse_) std::reverse(rows.begin(), rows.end());
}

Result<void> RowChoice::apply(std::int64_t now_unix_s, std::vector<EntryRow>& rows) const {
  PRECAST_TRY(filter(now_unix_s, rows));
  sort(rows);
  return {};
}

}  // namespace precast::cli
