#include "cli/surroundings.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/request.h"
#include "cli/text.h"
#include "precast/cache.h"
#include "precast/flags.h"

namespace precast::cli {
namespace {

namespace fs = std::filesystem;

// Below this, artifacts of larger programs may not fit.
constexpr std::uint64_t kLittleSpace = 100'000'000;

constexpr std::array<std::string_view, 10> kOwnVariables = {
    "PRECAST_CACHE",       "PRECAST_DISABLE", "PRECAST_LABEL",          "PRECAST_LOG",
    "PRECAST_NAMESPACE",   "PRECAST_PLUGIN",  "PRECAST_MIN_COMPILE_MS", "PRECAST_POLICY",
    "PRECAST_PJRT_PLUGIN", "PRECAST_SUMMARY"};
constexpr std::array<std::string_view, 16> kOtherVariables = {"GOMLX_BACKEND",
                                                              "HOME",
                                                              "JAX_PLATFORMS",
                                                              "LIBTPU_INIT_ARGS",
                                                              "NPROC",
                                                              "PJRT_DEVICE",
                                                              "PJRT_LIBRARY_PATH",
                                                              "PJRT_NAMES_AND_LIBRARY_PATHS",
                                                              "PJRT_NPROC",
                                                              "PYPJRT_PLUGIN",
                                                              "TF_CPP_MIN_LOG_LEVEL",
                                                              "TMPDIR",
                                                              "TPU_LIBRARY_PATH",
                                                              "VIRTUAL_ENV",
                                                              "XDG_CACHE_HOME",
                                                              "XLA_FLAGS"};

void add(Json& list, const std::string& what, const std::string& next_step) {
  list.push_back({{"what", what}, {"next_step", next_step}});
}

void count_entries(const std::string& directory, Json& object) {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::error_code error;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied,
                                      error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code unknown;
    if (at->path().extension() != ".precast" || !at->is_regular_file(unknown)) continue;
    ++entries;
    const std::uint64_t size = at->file_size(unknown);
    if (!unknown) bytes += size;
  }
  object["entries"] = entries;
  object["bytes"] = bytes;
}

void add_remarks(Json& list, const std::vector<FlagRemark>& remarks, const std::string& next_step) {
  for (const FlagRemark& remark : remarks) {
    add(list, fmt::format("XLA_FLAGS: '{}' {}", remark.word, remark.what),
        remark.nearest.empty() ? next_step : fmt::format("did you mean --{}?", remark.nearest));
  }
}

// What XLA ignores, or would end the process for.
void check_xla_flags(const std::string& flags, Json& problems, Json& notes) {
  const FlagRemarks remarks = examine_flags(flags);
  const std::string how = "write each flag as --name=value, parted by spaces";
  if (remarks.file) {
    add(notes, fmt::format("XLA_FLAGS names a file of flags, '{}'", *remarks.file),
        "nothing, if that is what you want: what is in the file counts");
  }
  if (!remarks.ignored.empty()) {
    add(problems,
        fmt::format("XLA_FLAGS: XLA ignores '{}' and everything behind it",
                    remarks.ignored.front().word),
        how);
  }
  add_remarks(problems, remarks.fatal, how);
  add_remarks(notes, remarks.unknown, "XLA ends the process unless the plugin knows it");
}

}  // namespace

Json look_at_cache(const std::string& directory, Json& problems, Json& notes) {
  Json object = {{"directory", Json()}, {"origin", "--cache"}, {"usable", false},
                 {"writable", false},   {"entries", Json()},   {"bytes", Json()},
                 {"free_bytes", Json()}};
  CacheConfig config;
  config.directory = directory;
  if (directory.empty()) {
    auto found = default_cache_directory();
    if (!found) {
      add(problems, found.error().message(), "set PRECAST_CACHE to a folder of yours");
      return object;
    }
    object["origin"] = found->origin;
    config.directory = found->path;
  }
  object["directory"] = config.directory;
  if (disabled_by_environment()) {
    add(notes, "PRECAST_DISABLE turns the cache off: everything is compiled",
        "unset PRECAST_DISABLE to use the cache");
    return object;
  }
  const Cache cache = Cache::open(config);
  if (cache.unusable()) {
    add(problems, "the cache folder cannot be used: " + cache.unusable()->message(),
        "mend the folder, or name another with --cache or PRECAST_CACHE");
    return object;
  }
  object["directory"] = cache.directory();
  object["usable"] = true;
  object["writable"] = ::access(cache.directory().c_str(), W_OK) == 0;
  if (!object["writable"].get<bool>()) {
    add(notes, "the cache folder may only be read: nothing new is stored",
        "make it writable, or name another with --cache or PRECAST_CACHE");
  }
  count_entries(cache.directory(), object);
  struct statvfs space{};
  if (::statvfs(cache.directory().c_str(), &space) == 0) {
    const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
    object["free_bytes"] = free;
    if (free < kLittleSpace) {
      add(problems, fmt::format("the cache's file system has only {} left", bytes_text(free)),
          "make room, or name a folder elsewhere with --cache or PRECAST_CACHE");
    }
  }
  return object;
}

Json look_at_environment(Json& problems, Json& notes) {
  std::vector<std::pair<std::string, std::string>> found;
  const std::vector<std::string> own(kOwnVariables.begin(), kOwnVariables.end());
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry(*at);
    const std::string name(entry.substr(0, entry.find('=')));
    const bool is_own = name.starts_with("PRECAST_");
    if (!is_own &&
        std::find(kOtherVariables.begin(), kOtherVariables.end(), name) == kOtherVariables.end()) {
      continue;
    }
    found.emplace_back(name, entry.substr(std::min(name.size() + 1, entry.size())));
    if (!is_own || std::find(own.begin(), own.end(), name) != own.end()) continue;
    if (const std::string near = nearest_word(name, own); !near.empty()) {
      add(notes, fmt::format("Precast knows no variable {}", name),
          fmt::format("did you mean {}?", near));
    }
  }
  std::sort(found.begin(), found.end());
  Json object = Json::object();
  for (const auto& [name, value] : found) {
    object[name] = value;
    if (name == "XLA_FLAGS") check_xla_flags(value, problems, notes);
  }
  return object;
}

}  // namespace precast::cli
