// precast clear: removes every entry of a cache folder.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/entries.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace precast::cli {
namespace {

// A file that nobody wrote to for so long has no writer any more.
constexpr std::int64_t kUnfinishedAgeS = 3600;

struct Arguments {
  CacheChoice cache;
  bool yes = false;
  bool dry_run = false;
  bool force = false;
};

struct Cleared {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t unfinished = 0;
  std::uint64_t pinned = 0;  // and so left alone
  std::vector<CacheContents::Unusable> failed;
};

std::string entries_text(std::uint64_t count) {
  return count == 1 ? "1 entry" : fmt::format("{} entries", count);
}

// Asks on the terminal; anything but yes is no.
bool agrees(const std::string& question) {
  (void)std::fprintf(stderr, "%s [y/N] ", question.c_str());
  (void)std::fflush(stderr);
  std::string answer;
  for (int c = std::getchar(); c != EOF && c != '\n'; c = std::getchar()) {
    answer.push_back(static_cast<char>(c));
  }
  return answer == "y" || answer == "Y" || answer == "yes" || answer == "Yes";
}

Cleared remove_all(const CacheFolder& folder, const CacheContents& contents,
                   const std::map<std::string, std::string>& pins, bool dry_run) {
  Cleared cleared;
  const auto note = [&](const CacheEntry& file, const Result<bool>& removed) {
    if (!removed) cleared.failed.push_back({file.key, file.path, removed.error()});
    return removed && *removed;
  };
  for (const CacheEntry& entry : all_entries(contents)) {
    if (pins.contains(entry.key)) {
      ++cleared.pinned;
      continue;
    }
    if (!dry_run && !note(entry, folder.remove(entry.key))) continue;
    ++cleared.entries;
    cleared.bytes += entry.bytes;
  }
  const auto before = static_cast<std::int64_t>(std::time(nullptr)) - kUnfinishedAgeS;
  for (const CacheEntry& file : contents.unfinished) {
    const bool old = file.modified_unix_s < before;
    if (dry_run ? !old : !note(file, folder.remove_unfinished(file, before))) continue;
    ++cleared.unfinished;
    cleared.bytes += file.bytes;
  }
  return cleared;
}

std::string summary_of(const Cleared& cleared, const CacheContents& contents,
                       const std::string& directory, bool dry_run) {
  const std::string kept = cleared.pinned == 0 ? ""
                                               : fmt::format("; {} pinned left alone (--force)",
                                                             entries_text(cleared.pinned));
  if (cleared.entries == 0 && cleared.unfinished == 0 && cleared.failed.empty()) {
    return fmt::format("nothing to remove in {}{}\n", printable(directory), kept);
  }
  std::string text =
      fmt::format("{} {}", dry_run ? "would remove" : "removed", entries_text(cleared.entries));
  if (cleared.unfinished != 0) {
    text += fmt::format(" and {}", counted(cleared.unfinished, "unfinished file"));
  }
  text += fmt::format(" ({}) from {}", bytes_text(cleared.bytes), printable(directory));
  if (contents.foreign != 0) {
    text += fmt::format("; {} not of Precast left alone", counted(contents.foreign, "thing"));
  }
  return text + kept + "\n";
}

Result<ExitCode> clear(const Arguments& arguments, Output& out) {
  PRECAST_ASSIGN(const OpenedFolder opened, open_folder(arguments.cache));
  CacheContents contents;
  if (opened.folder) {
    PRECAST_ASSIGN(contents, opened.folder->contents());
  }
  std::map<std::string, std::string> pins;
  if (opened.folder && !arguments.force) {
    PRECAST_ASSIGN(pins, pinned_keys(*opened.folder));
  }
  std::vector<CacheEntry> entries = all_entries(contents);
  std::erase_if(entries, [&](const CacheEntry& entry) { return pins.contains(entry.key); });
  if (!entries.empty() && !arguments.yes && !arguments.dry_run) {
    const std::string what =
        fmt::format("{} of {}", entries_text(entries.size()), printable(opened.wanted));
    if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) {
      out.advise("give --yes to remove them, or --dry-run to see what would be removed");
      return out.usage(fmt::format("'clear' would remove {}, and there is nobody to ask", what));
    }
    if (!agrees(fmt::format("remove {}?", what))) {
      out.print("nothing removed\n");
      out.object({{"schema", "precast.clear/1"},
                  {"directory", opened.wanted},
                  {"dry_run", false},
                  {"removed", 0},
                  {"unfinished", 0},
                  {"bytes", 0},
                  {"pinned", 0},
                  {"failed", Json::array()},
                  {"foreign", contents.foreign}});
      return ExitCode::negative;
    }
  }
  Cleared cleared;
  if (opened.folder) {
    const Progress progress("removing entries", out);
    cleared = remove_all(*opened.folder, contents, pins, arguments.dry_run);
  }
  for (const CacheContents::Unusable& unusable : contents.unusable) {
    if (unusable.key.empty()) cleared.failed.push_back(unusable);
  }
  for (const CacheContents::Unusable& failed : cleared.failed) {
    out.warning(failed.error.to_string());
  }
  out.print(summary_of(cleared, contents, opened.wanted, arguments.dry_run));
  out.object({{"schema", "precast.clear/1"},
              {"directory", opened.wanted},
              {"dry_run", arguments.dry_run},
              {"removed", cleared.entries},
              {"unfinished", cleared.unfinished},
              {"bytes", cleared.bytes},
              {"pinned", cleared.pinned},
              {"failed", json_of(cleared.failed)},
              {"foreign", contents.foreign}});
  if (!cleared.failed.empty()) return exit_code_of(cleared.failed.front().error.code());
  return ExitCode::done;
}

}  // namespace

Verb add_clear(CLI::App& root) {
  VerbOptions options(root, "clear", "remove every entry of the cache",
                      "precast clear --dry-run\n"
                      "precast clear --yes --cache /var/cache/precast");
  auto arguments = std::make_shared<Arguments>();
  options.add(arguments->yes, {.names = "-y,--yes", .help = "do not ask"});
  options.add(arguments->dry_run,
              {.names = "-n,--dry-run", .help = "only say what would be removed"});
  options.add(arguments->force, {.names = "-f,--force", .help = "pinned entries too"});
  arguments->cache.add_to(options);
  return {options.app(), [arguments](Output& out) { return clear(*arguments, out); }};
}

}  // namespace precast::cli
