// precast gc: removes entries by size, age and last use, and what dead processes left behind.
#include <fmt/format.h>

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/amounts.h"
#include "cli/entries.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace precast::cli {
namespace {

struct Arguments {
  std::string max_size;
  std::string older_than;
  std::string unused_for;
  bool dry_run = false;
  bool all_name_spaces = false;
  CacheChoice cache;
};

// What was done in one store.
struct Done {
  std::string name_space;
  std::string directory;
  CollectReport report;
};

Result<CollectOptions> options_of(const Arguments& arguments, const Output& out) {
  CollectOptions options;
  if (!arguments.max_size.empty()) {
    PRECAST_ASSIGN(options.max_bytes, parse_size(arguments.max_size));
  }
  if (!arguments.older_than.empty()) {
    PRECAST_ASSIGN(options.older_than_s, parse_age(arguments.older_than));
  }
  if (!arguments.unused_for.empty()) {
    PRECAST_ASSIGN(options.unused_for_s, parse_age(arguments.unused_for));
  }
  options.dry_run = arguments.dry_run;
  // Of a hundred thousand entries that went nobody reads the list, unless it is what was asked for.
  options.list = arguments.dry_run || out.verbose();
  return options;
}

Result<std::vector<std::string>> stores_of(const Arguments& arguments) {
  if (!arguments.all_name_spaces) return std::vector<std::string>{arguments.cache.name_space};
  std::vector<std::string> names = {""};
  PRECAST_ASSIGN(const std::vector<std::string> found,
                 CacheFolder::name_spaces(arguments.cache.directory));
  names.insert(names.end(), found.begin(), found.end());
  return names;
}

Result<std::optional<CacheFolder>> open_store(const Arguments& arguments,
                                              const std::string& name_space,
                                              std::string& directory) {
  // With --all-namespaces the empty name is the folder itself, whatever the environment says.
  if (arguments.all_name_spaces) {
    PRECAST_ASSIGN(std::optional<CacheFolder> folder,
                   CacheFolder::open(arguments.cache.directory, name_space));
    if (folder) directory = folder->path();
    return folder;
  }
  PRECAST_ASSIGN(OpenedFolder opened, open_folder(arguments.cache));
  directory = std::move(opened.wanted);
  return std::move(opened.folder);
}

std::string entries_text(std::uint64_t count) {
  return count == 1 ? "1 entry" : fmt::format("{} entries", count);
}

Table table_of(const CollectReport& report) {
  Table table({{"key"}, {"size", true}, {"age", true}, {"used", true}, {"why"}});
  const auto now = static_cast<std::int64_t>(std::time(nullptr));
  std::vector<CacheEntry> entries;
  entries.reserve(report.removed.size());
  for (const auto& [entry, why] : report.removed) entries.push_back(entry);
  const std::size_t digits = telling_digits(entries);
  for (const auto& [entry, why] : report.removed) {
    table.add({entry.key.substr(0, digits), bytes_text(entry.bytes),
               age_text(now - entry.modified_unix_s), age_text(now - entry.used_unix_s), why});
  }
  return table;
}

std::string summary_of(const Done& done, bool dry_run) {
  const CollectReport& report = done.report;
  std::string text =
      fmt::format("{}: {} {} ({})", printable(done.directory), dry_run ? "would remove" : "removed",
                  entries_text(report.removed_entries), bytes_text(report.removed_bytes));
  if (report.unfinished != 0) {
    text += fmt::format(", {} ({})", counted(report.unfinished, "unfinished file"),
                        bytes_text(report.unfinished_bytes));
  }
  if (report.quarantined != 0) {
    text += fmt::format(", {} of the quarantine ({})", counted(report.quarantined, "file"),
                        bytes_text(report.quarantined_bytes));
  }
  if (report.leases != 0) text += ", " + counted(report.leases, "lease") + " of dead processes";
  text += fmt::format("; {} ({}) left", entries_text(report.left_entries),
                      bytes_text(report.left_bytes));
  if (report.pinned_entries != 0) text += fmt::format(", {} pinned", report.pinned_entries);
  return text + "\n";
}

Json json_of(const Done& done, bool listed) {
  const CollectReport& report = done.report;
  Json object = {{"namespace", done.name_space.empty() ? Json() : Json(done.name_space)},
                 {"directory", done.directory},
                 {"removed", report.removed_entries},
                 {"removed_bytes", report.removed_bytes},
                 {"left", report.left_entries},
                 {"left_bytes", report.left_bytes},
                 {"pinned", report.pinned_entries},
                 {"unfinished", report.unfinished},
                 {"unfinished_bytes", report.unfinished_bytes},
                 {"quarantined", report.quarantined},
                 {"quarantined_bytes", report.quarantined_bytes},
                 {"leases", report.leases},
                 {"soft_limit_bytes", report.soft_limit_bytes},
                 {"hard_limit_bytes", report.hard_limit_bytes},
                 {"failed", report.failed}};
  if (!listed) return object;
  Json entries = Json::array();
  for (const auto& [entry, why] : report.removed) {
    entries.push_back({{"key", entry.key},
                       {"bytes", entry.bytes},
                       {"modified_unix_s", entry.modified_unix_s},
                       {"used_unix_s", entry.used_unix_s},
                       {"why", why}});
  }
  object["entries"] = std::move(entries);
  return object;
}

void print(const Done& done, const CollectOptions& options, Output& out) {
  if (options.list && !done.report.removed.empty()) {
    out.print(table_of(done.report));
    out.print("\n");
  }
  out.print(summary_of(done, options.dry_run));
  if (done.report.first_error) {
    out.warning(fmt::format("{}: {}", counted(done.report.failed, "thing"),
                            done.report.first_error->to_string()));
  }
}

Result<ExitCode> gc(const Arguments& arguments, Output& out) {
  PRECAST_ASSIGN(const CollectOptions options, options_of(arguments, out));
  PRECAST_ASSIGN(const std::vector<std::string> names, stores_of(arguments));
  Json stores = Json::array();
  std::uint64_t removed_bytes = 0;
  std::optional<Error> first_error;
  for (const std::string& name : names) {
    Done done{.name_space = name, .directory = "", .report = {}};
    PRECAST_ASSIGN(const std::optional<CacheFolder> folder,
                   open_store(arguments, name, done.directory));
    if (folder) {
      const Progress progress("collecting", out);
      PRECAST_ASSIGN(done.report, folder->collect(options));
    } else if (done.directory.empty()) {
      continue;
    }
    print(done, options, out);
    stores.push_back(json_of(done, options.list));
    removed_bytes += done.report.removed_bytes;
    if (!first_error) first_error = done.report.first_error;
  }
  out.object({{"schema", "precast.gc/1"},
              {"dry_run", arguments.dry_run},
              {"removed_bytes", removed_bytes},
              {"stores", std::move(stores)}});
  return first_error ? exit_code_of(first_error->code()) : ExitCode::done;
}

template <typename T>
std::string complaint(const Result<T>& result) {
  return result ? std::string() : result.error().message();
}

}  // namespace

Verb add_gc(CLI::App& root) {
  VerbOptions options(root, "gc", "remove entries by size, age and last use",
                      "precast gc --dry-run --max-size 20GB\n"
                      "precast gc --unused-for 14d --all-namespaces");
  auto arguments = std::make_shared<Arguments>();
  const auto age = [](const std::string& text) { return complaint(parse_age(text)); };
  options.add(arguments->max_size,
              {.names = "--max-size",
               .help = "down to so much, the longest unused first",
               .value = "SIZE",
               .group = "Rules",
               .check = [](const std::string& text) { return complaint(parse_size(text)); }});
  options.add(arguments->older_than, {.names = "--older-than",
                                      .help = "stored longer ago: 30d, 12h",
                                      .value = "AGE",
                                      .group = "Rules",
                                      .check = age});
  options.add(arguments->unused_for, {.names = "--unused-for",
                                      .help = "not used for longer",
                                      .value = "AGE",
                                      .group = "Rules",
                                      .check = age});
  options.add(arguments->dry_run,
              {.names = "-n,--dry-run", .help = "only say what would be removed, and why"});
  arguments->cache.add_to(options);
  options.add(arguments->all_name_spaces, {.names = "--all-namespaces",
                                           .help = "the folder and every namespace in it",
                                           .group = "Cache"});
  options.exclude("--all-namespaces", "--namespace");
  return {options.app(), [arguments](Output& out) { return gc(*arguments, out); }};
}

}  // namespace precast::cli
