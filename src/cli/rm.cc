// precast rm: removes entries of a cache, or artifacts in files.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
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
  std::vector<std::string> targets;
  CacheChoice cache;
  bool dry_run = false;
  bool force = false;
};

struct Target {
  CacheEntry entry;  // without a key for a file outside of the cache
  std::string name;  // of its program, where it says so
  bool in_cache = false;
};

Error not_removed(const std::string& path, const std::string& why) {
  return {ErrorCode::invalid_argument, fmt::format("'{}' is not removed: {}", path, why)};
}

// A file is removed when it begins like an artifact: a slip must not cost anything else.
Result<Target> look_at_file(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return Error(ErrorCode::invalid_argument, fmt::format("no file '{}'", path));
    }
    return Error(ErrorCode::io_error, fmt::format("examining '{}': {}", path, strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) {
    return not_removed(path, "it is a folder; 'precast clear --cache DIR' empties a cache");
  }
  if (!S_ISREG(status.st_mode)) return not_removed(path, "it is not a regular file");
  auto facts = artifact_facts(path);
  Target target;
  target.entry = {"", path, static_cast<std::uint64_t>(status.st_size), status.st_mtime};
  if (facts) {
    target.entry.key = facts->entry.key;
    target.name = facts->provenance.program_name;
    return target;
  }
  std::array<char, 64> front{};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  const ssize_t got = fd < 0 ? -1 : ::read(fd, front.data(), front.size());
  if (fd >= 0) ::close(fd);
  if (got > 0 && looks_like_artifact({front.data(), static_cast<std::size_t>(got)})) return target;
  if (got < 0) return std::move(facts).error();
  return not_removed(path, "it does not begin like an artifact; if you mean it, use rm");
}

Target in_cache(const CacheFolder& folder, CacheEntry entry) {
  Target target;
  target.entry = std::move(entry);
  target.in_cache = true;
  if (auto facts = folder.facts(target.entry.key); facts && *facts) {
    target.name = (*facts)->provenance.program_name;
  }
  return target;
}

// Finds everything that is meant before anything is removed.
Result<std::vector<Target>> find_targets(const Arguments& arguments, const OpenedFolder& opened,
                                         const std::vector<CacheEntry>& entries, Output& out) {
  std::vector<Target> targets;
  for (const std::string& word : arguments.targets) {
    std::optional<Target> target;
    const auto by_path = std::find_if(entries.begin(), entries.end(),
                                      [&](const CacheEntry& entry) { return entry.path == word; });
    if (by_path != entries.end()) {
      target = in_cache(*opened.folder, *by_path);
    } else if (is_key_prefix(lower_digits(word))) {
      auto entry = find_entry(entries, lower_digits(word), opened.wanted);
      if (!entry) {
        out.advise("'precast ls' shows the keys");
        return std::move(entry).error();
      }
      target = in_cache(*opened.folder, *std::move(entry));
    } else if (word.find('/') != std::string::npos || word.ends_with(".precast")) {
      PRECAST_ASSIGN(target, look_at_file(word));
    } else {
      out.advise("'precast ls' shows the keys; a file in this folder is named ./FILE");
      return Error(
          ErrorCode::invalid_argument,
          fmt::format("'{}' is neither the beginning of a key nor a path", printable(word, 100)));
    }
    const bool twice = std::any_of(targets.begin(), targets.end(), [&](const Target& other) {
      return other.entry.path == target->entry.path;
    });
    if (!twice) targets.push_back(*std::move(target));
  }
  return targets;
}

// What somebody wanted to keep is not removed by the way.
Result<void> check_pins(const CacheFolder& folder, const std::vector<Target>& targets,
                        Output& out) {
  PRECAST_ASSIGN(const auto pins, pinned_keys(folder));
  for (const Target& target : targets) {
    const auto pin = target.in_cache ? pins.find(target.entry.key) : pins.end();
    if (pin == pins.end()) continue;
    const std::string shown = target.entry.key.substr(0, kShortKeyDigits);
    out.advise(fmt::format("precast unpin {}, or give --force", shown));
    return Error(
        ErrorCode::invalid_argument,
        fmt::format("'{}' is pinned ({}), so nothing is removed", shown, note_text(pin->second)));
  }
  return {};
}

Result<bool> remove(const OpenedFolder& opened, const Target& target) {
  if (target.in_cache) return opened.folder->remove(target.entry.key);
  if (::unlink(target.entry.path.c_str()) == 0) return true;
  if (errno == ENOENT) return false;
  const bool denied = errno == EACCES || errno == EPERM || errno == EROFS;
  return Error(denied ? ErrorCode::permission_denied : ErrorCode::io_error,
               fmt::format("removing '{}': {}", target.entry.path, std::strerror(errno)));
}

std::string line_of(const Target& target, bool dry_run, Output& out) {
  std::string text = out.styled(Style::bold, dry_run ? "would remove" : "removed") + " ";
  text +=
      target.in_cache ? target.entry.key.substr(0, kShortKeyDigits) : printable(target.entry.path);
  if (!target.name.empty()) text += ", " + printable(target.name);
  return text + fmt::format(" ({})\n", bytes_text(target.entry.bytes));
}

Result<ExitCode> rm(const Arguments& arguments, Output& out) {
  OpenedFolder opened;
  std::vector<CacheEntry> entries;
  const bool needs_folder =
      std::any_of(arguments.targets.begin(), arguments.targets.end(), [](const std::string& word) {
        return is_key_prefix(lower_digits(word)) || word.find("/v1/") != std::string::npos;
      });
  if (needs_folder) {
    PRECAST_ASSIGN(opened, open_folder(arguments.cache));
    if (opened.folder) {
      PRECAST_ASSIGN(const CacheContents contents, opened.folder->contents());
      entries = all_entries(contents);
    }
  }
  PRECAST_ASSIGN(const std::vector<Target> targets, find_targets(arguments, opened, entries, out));
  if (opened.folder && !arguments.force) PRECAST_TRY(check_pins(*opened.folder, targets, out));
  Json removed = Json::array();
  std::uint64_t bytes = 0;
  for (const Target& target : targets) {
    if (!arguments.dry_run) {
      PRECAST_ASSIGN(const bool was_there, remove(opened, target));
      if (!was_there) continue;  // another process was faster
    }
    out.print(line_of(target, arguments.dry_run, out));
    bytes += target.entry.bytes;
    removed.push_back({{"key", target.entry.key.empty() ? Json() : Json(target.entry.key)},
                       {"path", target.entry.path},
                       {"bytes", target.entry.bytes},
                       {"program_name", target.name}});
  }
  out.object({{"schema", "precast.rm/1"},
              {"dry_run", arguments.dry_run},
              {"removed", std::move(removed)},
              {"bytes", bytes}});
  return ExitCode::done;
}

}  // namespace

Verb add_rm(CLI::App& root) {
  VerbOptions options(root, "rm", "remove entries of the cache, or artifacts",
                      "precast rm 3f9a21\n"
                      "precast rm --dry-run 3f9a21 ranker.precast");
  auto arguments = std::make_shared<Arguments>();
  options.add_many(arguments->targets,
                   {.names = "KEY",
                    .help = "the beginning of a key, or the path of an artifact",
                    .required = true});
  options.add(arguments->dry_run,
              {.names = "-n,--dry-run", .help = "only say what would be removed"});
  options.add(arguments->force, {.names = "-f,--force", .help = "pinned entries too"});
  arguments->cache.add_to(options);
  return {options.app(), [arguments](Output& out) { return rm(*arguments, out); }};
}

}  // namespace precast::cli
