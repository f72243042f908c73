// precast pin and unpin: entries that no collection removes.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/entries.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace precast::cli {
namespace {

struct Arguments {
  std::vector<std::string> keys;
  CacheChoice cache;
  std::string note;
};

// All of them before anything is done.
Result<std::vector<CacheEntry>> find_all(const std::vector<CacheEntry>& entries,
                                         const std::vector<std::string>& words,
                                         const OpenedFolder& opened, Output& out) {
  std::vector<CacheEntry> found;
  for (const std::string& word : words) {
    PRECAST_ASSIGN(CacheEntry entry, named_entry(entries, word, opened.wanted, out));
    found.push_back(std::move(entry));
  }
  return found;
}

Json json_of(const CacheEntry& entry) { return {{"key", entry.key}, {"path", entry.path}}; }

Result<ExitCode> pin(const Arguments& arguments, Output& out) {
  PRECAST_ASSIGN(const OpenedFolder opened, open_folder(arguments.cache));
  CacheContents contents;
  if (opened.folder) {
    PRECAST_ASSIGN(contents, opened.folder->contents());
  }
  PRECAST_ASSIGN(const std::vector<CacheEntry> entries,
                 find_all(all_entries(contents), arguments.keys, opened, out));
  Json pinned = Json::array();
  for (const CacheEntry& entry : entries) {
    PRECAST_TRY(opened.folder->pin(entry.key, arguments.note));
    out.print(fmt::format("{} {} ({})\n", out.styled(Style::bold, "pinned"),
                          entry.key.substr(0, kShortKeyDigits), note_text(arguments.note)));
    pinned.push_back(json_of(entry));
  }
  out.object({{"schema", "precast.pin/1"},
              {"directory", opened.wanted},
              {"note", arguments.note},
              {"pinned", std::move(pinned)}});
  return ExitCode::done;
}

Result<ExitCode> unpin(const Arguments& arguments, Output& out) {
  PRECAST_ASSIGN(const OpenedFolder opened, open_folder(arguments.cache));
  std::vector<CacheEntry> known;
  std::vector<CachePin> pins;
  if (opened.folder) {
    PRECAST_ASSIGN(const CacheContents contents, opened.folder->contents());
    known = all_entries(contents);
    PRECAST_ASSIGN(pins, opened.folder->pins());
  }
  // A pin may stand for an entry that is gone.
  for (const CachePin& pin : pins) {
    const bool there = std::any_of(known.begin(), known.end(),
                                   [&](const CacheEntry& entry) { return entry.key == pin.key; });
    if (!there) known.push_back({pin.key, "", 0, 0, 0});
  }
  PRECAST_ASSIGN(const std::vector<CacheEntry> entries,
                 find_all(known, arguments.keys, opened, out));
  Json unpinned = Json::array();
  for (const CacheEntry& entry : entries) {
    const std::string shown = entry.key.substr(0, kShortKeyDigits);
    PRECAST_ASSIGN(const bool was, opened.folder->unpin(entry.key));
    if (was) {
      out.print(fmt::format("{} {}\n", out.styled(Style::bold, "unpinned"), shown));
      unpinned.push_back(json_of(entry));
    } else {
      out.print(fmt::format("{} was not pinned\n", shown));
    }
  }
  out.object({{"schema", "precast.unpin/1"},
              {"directory", opened.wanted},
              {"unpinned", std::move(unpinned)}});
  return ExitCode::done;
}

}  // namespace

Verb add_pin(CLI::App& root) {
  VerbOptions options(root, "pin", "keep entries from being collected",
                      "precast pin 3f9a21 --note 'release 7'\n"
                      "precast ls");
  auto arguments = std::make_shared<Arguments>();
  options.add_many(arguments->keys,
                   {.names = "KEY", .help = "the beginning of a key", .required = true});
  options.add(arguments->note, {.names = "--note", .help = "text that ls shows", .value = "TEXT"});
  arguments->cache.add_to(options);
  return {options.app(), [arguments](Output& out) { return pin(*arguments, out); }};
}

Verb add_unpin(CLI::App& root) {
  VerbOptions options(root, "unpin", "let entries be collected again", "precast unpin 3f9a21");
  auto arguments = std::make_shared<Arguments>();
  options.add_many(arguments->keys,
                   {.names = "KEY", .help = "the beginning of a key", .required = true});
  arguments->cache.add_to(options);
  return {options.app(), [arguments](Output& out) { return unpin(*arguments, out); }};
}

}  // namespace precast::cli
