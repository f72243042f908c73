// precast verify: every check of an artifact that needs no plugin, for files and whole stores.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/progress.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "precast/precast.h"

namespace precast::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::vector<std::string> paths;
};

struct Bad {
  std::string path;
  Error error;
};

struct Tally {
  std::uint64_t verified = 0;
  std::uint64_t foreign = 0;         // files in folders that are no artifacts by their name
  std::vector<Bad> bad;              // artifacts that do not verify
  std::vector<Bad> unreadable;       // what was named and cannot be read
  std::optional<std::string> empty;  // the last folder without an artifact
};

bool is_hex(const std::string& text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// The key that the place in a store says, <two digits>/<the other 62>.precast; nothing elsewhere.
std::optional<std::string> key_by_place(const std::string& path) {
  std::error_code error;
  const fs::path full = fs::absolute(path, error);
  const std::string folder = full.parent_path().filename().string();
  const std::string stem = full.stem().string();
  if (error || !is_hex(folder, 2) || !is_hex(stem, 62)) return std::nullopt;
  return folder + stem;
}

Result<void> verify_file(const std::string& path) {
  PRECAST_ASSIGN(const VerifiedArtifact artifact, VerifiedArtifact::from_file(path));
  auto record = KeyRecord::decode(artifact.key_record());
  if (!record) return std::move(record).error().with("in the key record");
  const auto options = CompileOptions::from_serialized(Bytes(artifact.compile_options()));
  if (!options) {
    return Error(ErrorCode::corrupt, "its compile options are wrong: " + options.error().message());
  }
  const std::optional<std::string> name = key_by_place(path);
  if (name && *name != record->digest().hex()) {
    return Error(ErrorCode::corrupt,
                 fmt::format("its name in the store stands for another key than its record, {}",
                             record->digest().hex()));
  }
  return {};
}

// A file is unreadable, rather than bad, when nothing is known about its content.
bool is_unreadable(ErrorCode code) {
  return code == ErrorCode::invalid_argument || code == ErrorCode::permission_denied ||
         code == ErrorCode::io_error || code == ErrorCode::resource_exhausted ||
         code == ErrorCode::unavailable;
}

void verify_into(const std::string& path, Tally& tally) {
  auto verified = verify_file(path);
  if (verified) {
    ++tally.verified;
    return;
  }
  auto& list = is_unreadable(verified.error().code()) ? tally.unreadable : tally.bad;
  list.push_back({path, std::move(verified).error()});
}

// Collects the artifacts of one folder, and its folders. A folder that cannot be read is
// unreadable; those beside it are read all the same.
void list_folder(const std::string& folder, std::vector<std::string>& folders,
                 std::vector<std::string>& files, Tally& tally) {
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code unknown;
    // Links to folders are not followed: they could lead anywhere, or back here.
    const fs::file_status status = at->symlink_status(unknown);
    if (fs::is_directory(status)) {
      folders.push_back(at->path().string());
    } else if (at->path().extension() == ".precast" && at->is_regular_file(unknown)) {
      files.push_back(at->path().string());
    } else {
      ++tally.foreign;
    }
  }
  if (!error) return;
  const ErrorCode code =
      error == std::errc::permission_denied ? ErrorCode::permission_denied : ErrorCode::io_error;
  tally.unreadable.push_back({folder, Error(code, "reading the folder: " + error.message())});
}

void verify_folder(const std::string& folder, Tally& tally) {
  std::vector<std::string> folders = {folder};
  std::vector<std::string> files;
  while (!folders.empty()) {
    const std::string next = std::move(folders.back());
    folders.pop_back();
    list_folder(next, folders, files, tally);
  }
  if (files.empty()) tally.empty = folder;
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) verify_into(file, tally);
}

Json json_of(const std::vector<Bad>& list) {
  Json array = Json::array();
  for (const Bad& bad : list) {
    Json entry = {{"path", bad.path}};
    entry.update(cli::json_of(bad.error));
    array.push_back(std::move(entry));
  }
  return array;
}

std::string line_of(const Bad& bad) {
  return fmt::format("{}: {}\n", printable(bad.path), printable(bad.error.to_string()));
}

std::string summary_of(const Tally& tally) {
  std::string text;
  const std::uint64_t checked = tally.verified + tally.bad.size() + tally.unreadable.size();
  if (checked == 0) {
    text = fmt::format("nothing to verify: no .precast file in '{}'",
                       printable(tally.empty.value_or("")));
  } else {
    text =
        fmt::format("{} verified, {} bad", counted(tally.verified, "artifact"), tally.bad.size());
    if (!tally.unreadable.empty()) text += fmt::format(", {} unreadable", tally.unreadable.size());
  }
  if (tally.foreign != 0) text += fmt::format(", {} ignored", counted(tally.foreign, "other file"));
  return text + "\n";
}

Result<ExitCode> verify(const Arguments& arguments, Output& out) {
  Tally tally;
  {
    const Progress progress("verifying", out);
    for (const std::string& path : arguments.paths) {
      std::error_code unknown;
      if (fs::is_directory(path, unknown)) {
        verify_folder(path, tally);
      } else {
        verify_into(path, tally);
      }
    }
  }
  for (const Bad& bad : tally.bad) out.answer(out.styled(Style::bad, "bad") + " " + line_of(bad));
  for (const Bad& bad : tally.unreadable) {
    out.answer(out.styled(Style::bad, "unreadable") + " " + line_of(bad));
  }
  out.print(summary_of(tally));
  out.object({{"schema", "precast.verify/1"},
              {"verified", tally.verified},
              {"bad", json_of(tally.bad)},
              {"unreadable", json_of(tally.unreadable)},
              {"foreign", tally.foreign}});
  if (!tally.bad.empty()) return ExitCode::negative;
  if (!tally.unreadable.empty()) return exit_code_of(tally.unreadable.front().error.code());
  return ExitCode::done;
}

}  // namespace

Verb add_verify(CLI::App& root) {
  VerbOptions options(root, "verify", "check artifacts; needs no plugin",
                      "precast verify ranker.precast\n"
                      "precast verify ~/.cache/precast");
  auto arguments = std::make_shared<Arguments>();
  options.add_many(arguments->paths, {.names = "PATH",
                                      .help = "artifacts, and folders to search for *.precast",
                                      .required = true});
  return {options.app(), [arguments](Output& out) { return verify(*arguments, out); }};
}

}  // namespace precast::cli
