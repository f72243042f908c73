// precast ls: the entries of a cache folder, or artifacts in files.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/amounts.h"
#include "cli/entries.h"
#include "cli/entry_rows.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace precast::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::vector<std::string> paths;
  CacheChoice cache;
  bool full = false;  // --long
  RowChoice choice;
};

struct Listing {
  std::string directory;  // empty when files were named
  std::vector<EntryRow> rows;
  CacheContents contents;
  std::map<std::string, std::string> pins;  // the notes, by key
  std::optional<Error> first_error;         // about something that was named
};

void add_folder(const CacheFolder& folder, Listing& listing) {
  auto contents = folder.contents();
  if (!contents) {
    listing.first_error = std::move(contents).error();
    return;
  }
  if (auto pins = pinned_keys(folder)) listing.pins.merge(*pins);
  for (const CacheEntry& entry : contents->entries) {
    auto facts = folder.facts(entry.key);
    if (facts && !*facts) continue;  // removed meanwhile
    EntryRow row;
    row.facts.entry = entry;
    if (facts) {
      row.facts = **std::move(facts);
    } else {
      row.error = std::move(facts).error();
    }
    listing.rows.push_back(std::move(row));
  }
  auto& unusable = listing.contents.unusable;
  std::move(contents->unusable.begin(), contents->unusable.end(), std::back_inserter(unusable));
  auto& unfinished = listing.contents.unfinished;
  std::move(contents->unfinished.begin(), contents->unfinished.end(),
            std::back_inserter(unfinished));
  listing.contents.foreign += contents->foreign;
}

void add_file(const std::string& path, Listing& listing) {
  auto facts = artifact_facts(path);
  if (facts) {
    listing.rows.push_back({*std::move(facts), std::nullopt});
    return;
  }
  if (!listing.first_error) listing.first_error = facts.error();
  listing.contents.unusable.push_back({"", path, std::move(facts).error()});
}

// The artifacts that lie in a folder which is no cache.
void add_files_of(const std::string& folder, Listing& listing) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    std::error_code unknown;
    if (at->path().extension() == ".precast" && at->is_regular_file(unknown)) {
      files.push_back(at->path().string());
    }
  }
  if (error && !listing.first_error) {
    listing.first_error = Error(
        ErrorCode::io_error, fmt::format("reading the folder '{}': {}", folder, error.message()));
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) add_file(file, listing);
}

Result<void> add_path(const std::string& path, Listing& listing) {
  std::error_code unknown;
  if (!fs::is_directory(path, unknown)) {
    add_file(path, listing);
    return {};
  }
  if (!fs::exists(fs::path(path) / "v1", unknown)) {
    add_files_of(path, listing);
    return {};
  }
  PRECAST_ASSIGN(const std::optional<CacheFolder> folder, CacheFolder::open(path));
  if (folder) add_folder(*folder, listing);
  return {};
}

Result<Listing> gather(const Arguments& arguments, Output& out) {
  const Progress progress("reading entries", out);
  Listing listing;
  if (!arguments.paths.empty()) {
    for (const std::string& path : arguments.paths) PRECAST_TRY(add_path(path, listing));
    return listing;
  }
  PRECAST_ASSIGN(const OpenedFolder opened, open_folder(arguments.cache));
  listing.directory = opened.wanted;
  if (opened.folder) {
    add_folder(*opened.folder, listing);
    if (listing.first_error) return *listing.first_error;
  }
  return listing;
}

// "7.81 s", "412 ms".
std::string duration_text(double ms) {
  return ms < 1000 ? ms_text(ms) + " ms" : ms_text(ms / 1000) + " s";
}

std::string pin_text(const std::map<std::string, std::string>& pins, const std::string& key) {
  const auto pin = pins.find(key);
  if (pin == pins.end()) return "";
  return pin->second.empty() ? "pinned" : printable(pin->second);
}

Table table_of(const Arguments& arguments, const Listing& listing, std::int64_t now) {
  const std::vector<EntryRow>& rows = listing.rows;
  const bool used = std::any_of(rows.begin(), rows.end(), [](const EntryRow& row) {
    return row.facts.entry.used_unix_s > row.facts.entry.modified_unix_s;
  });
  const bool pins = std::any_of(rows.begin(), rows.end(), [&](const EntryRow& row) {
    return listing.pins.contains(row.facts.entry.key);
  });
  const bool labels = std::any_of(rows.begin(), rows.end(), [](const EntryRow& row) {
    return !row.facts.provenance.label.empty();
  });
  std::vector<Column> columns = {{"key"}, {"program", false, true}};
  if (labels) columns.push_back({"label", false, true});
  for (const Column& column :
       std::initializer_list<Column>{{"platform"}, {"size", true}, {"age", true}}) {
    columns.push_back(column);
  }
  if (used) columns.push_back({"used", true});
  columns.push_back({"compile", true});
  if (pins) columns.push_back({"pin", false, true});
  if (arguments.full) columns.push_back({"path"});
  std::vector<CacheEntry> entries;
  for (const EntryRow& row : rows) entries.push_back(row.facts.entry);
  const std::size_t digits = arguments.full ? std::string::npos : telling_digits(entries);

  Table table(std::move(columns));
  for (const EntryRow& row : rows) {
    const Provenance& from = row.facts.provenance;
    std::vector<std::string> cells = {row.facts.entry.key.substr(0, digits)};
    cells.push_back(row.error ? fmt::format("({})", to_string(row.error->code()))
                              : printable(from.program_name));
    if (labels) cells.push_back(printable(from.label));
    cells.push_back(printable(from.platform));
    cells.push_back(bytes_text(row.facts.entry.bytes));
    cells.push_back(age_text(now - row.made_unix_s()));
    if (used) cells.push_back(age_text(now - row.facts.entry.used_unix_s));
    cells.push_back(row.error ? "" : duration_text(from.compile_ms));
    if (pins) cells.push_back(pin_text(listing.pins, row.facts.entry.key));
    if (arguments.full) cells.push_back(printable(row.facts.entry.path));
    table.add(std::move(cells));
  }
  return table;
}

Json json_of(const EntryRow& row, const std::map<std::string, std::string>& pins) {
  const Provenance& from = row.facts.provenance;
  Json object = {{"key", row.facts.entry.key},
                 {"path", row.facts.entry.path},
                 {"bytes", row.facts.entry.bytes},
                 {"modified_unix_s", row.facts.entry.modified_unix_s},
                 {"used_unix_s", row.facts.entry.used_unix_s},
                 {"pinned", pins.contains(row.facts.entry.key)}};
  if (row.error) {
    object["error"] = cli::json_of(*row.error);
    return object;
  }
  object["executable_bytes"] = row.facts.executable_bytes;
  object["program_name"] = from.program_name;
  object["label"] = from.label;
  object["platform"] = from.platform;
  object["platform_version"] = from.platform_version;
  object["api_version"] = from.api_version;
  object["precast_version"] = from.precast_version;
  object["host"] = from.host;
  object["created_unix_s"] = from.created_unix_s;
  object["compile_ms"] = rounded_ms(from.compile_ms);
  return object;
}

std::uint64_t bytes_of(const std::vector<EntryRow>& rows) {
  std::uint64_t bytes = 0;
  for (const EntryRow& row : rows) bytes += row.facts.entry.bytes;
  return bytes;
}

std::string summary_of(const Listing& listing, std::size_t before) {
  const std::string where =
      listing.directory.empty() ? "" : fmt::format(" in {}", printable(listing.directory));
  if (before == 0) return fmt::format("no entries{}\n", where);
  if (listing.rows.empty()) return fmt::format("none of {} entries{} matches\n", before, where);
  std::string text = listing.rows.size() == 1 ? std::string("1 entry")
                                              : fmt::format("{} entries", listing.rows.size());
  if (before != listing.rows.size()) text += fmt::format(" of {}", before);
  text += fmt::format(", {}{}", bytes_text(bytes_of(listing.rows)), where);
  return text + "\n";
}

void print(const Arguments& arguments, const Listing& listing, std::size_t before, std::int64_t now,
           Output& out) {
  if (out.quiet()) {
    for (const EntryRow& row : listing.rows) out.answer(row.facts.entry.key + "\n");
    return;
  }
  for (const EntryRow& row : listing.rows) {
    if (row.error) out.warning(row.error->to_string());
  }
  // What was named and is bad is the error that ends this.
  if (arguments.paths.empty()) warn_about_unusable(listing.contents, out);
  if (!listing.rows.empty()) {
    out.print(table_of(arguments, listing, now));
    out.print("\n");
  }
  if (!listing.rows.empty() || !listing.first_error) {
    out.print(out.styled(Style::dim, summary_of(listing, before)));
  }
}

Result<ExitCode> ls(const Arguments& arguments, Output& out) {
  PRECAST_ASSIGN(Listing listing, gather(arguments, out));
  const std::size_t before = listing.rows.size();
  const auto now = static_cast<std::int64_t>(std::time(nullptr));
  PRECAST_TRY(arguments.choice.apply(now, listing.rows));
  print(arguments, listing, before, now, out);
  if (listing.first_error) return *listing.first_error;
  Json entries = Json::array();
  for (const EntryRow& row : listing.rows) entries.push_back(json_of(row, listing.pins));
  out.object({{"schema", "precast.ls/1"},
              {"directory", listing.directory.empty() ? Json() : Json(listing.directory)},
              {"entries", std::move(entries)},
              {"bytes", bytes_of(listing.rows)},
              {"left_out", before - listing.rows.size()},
              {"unusable", cli::json_of(listing.contents.unusable)},
              {"unfinished", listing.contents.unfinished.size()},
              {"foreign", listing.contents.foreign}});
  return ExitCode::done;
}

}  // namespace

Verb add_ls(CLI::App& root) {
  VerbOptions options(root, "ls", "list the entries of the cache, or artifacts",
                      "precast ls\n"
                      "precast ls --sort size --older-than 7d\n"
                      "precast ls ranker.precast");
  auto arguments = std::make_shared<Arguments>();
  options.add_many(arguments->paths,
                   {.names = "PATH", .help = "artifacts and folders, instead of the cache"});
  arguments->choice.add_order_to(options);
  options.add(arguments->full, {.names = "-l,--long", .help = "whole keys, and paths"});
  arguments->choice.add_filters_to(options);
  arguments->cache.add_to(options);
  options.exclude("PATH", "--cache");
  options.exclude("PATH", "--namespace");
  return {options.app(), [arguments](Output& out) { return ls(*arguments, out); }};
}

}  // namespace precast::cli
