#include "cli/wrapper.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/text.h"
#include "precast/version.h"

namespace precast::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWrapper = "libprecast_pjrt.so";

// The folder of libprecast.so, of which the wrapper is a neighbour in the build tree and where it
// is installed.
fs::path library_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&precast::version), &info) == 0) return {};
  std::error_code error;
  return fs::canonical(info.dli_fname, error).parent_path();
}

Result<std::string> real_file(const std::string& path, const std::string& what) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error || !fs::is_regular_file(real, error)) {
    return Error(ErrorCode::invalid_argument, fmt::format("there is no {} '{}'", what, path));
  }
  return real.string();
}

}  // namespace

Result<std::string> find_wrapper(const std::string& given) {
  if (!given.empty()) return real_file(given, "file");
  const fs::path folder = library_folder();
  auto found = real_file((folder / kWrapper).string(), "wrapper");
  if (!found) {
    return Error(ErrorCode::invalid_argument,
                 fmt::format("{} is not in '{}', beside the library; name it with --wrapper",
                             kWrapper, folder.string()));
  }
  return found;
}

Result<FoundPlugin> choose_plugin(const std::string& name_or_path) {
  const std::vector<FoundPlugin> found = find_plugins();
  if (name_or_path.find('/') != std::string::npos) {
    PRECAST_ASSIGN(const std::string real, real_file(name_or_path, "plugin"));
    for (const FoundPlugin& plugin : found) {
      std::error_code error;
      if (fs::equivalent(plugin.path, real, error)) return FoundPlugin{plugin.name, real, "path"};
    }
    return FoundPlugin{fs::path(real).filename().string(), real, "path"};
  }
  std::vector<std::string> names;
  for (const FoundPlugin& plugin : found) {
    if (name_or_path.empty() || plugin.name == name_or_path) {
      PRECAST_ASSIGN(std::string real, real_file(plugin.path, "plugin"));
      return FoundPlugin{plugin.name, std::move(real), plugin.origin};
    }
    names.push_back(plugin.name);
  }
  if (names.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "no plugin is found; name one by its path with --plugin, or activate the virtual "
                 "environment that holds one");
  }
  return Error(ErrorCode::invalid_argument, fmt::format("no plugin is named '{}'; the names are {}",
                                                        name_or_path, joined(names)));
}

}  // namespace precast::cli
