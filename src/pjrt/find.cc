#include "pjrt/find.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "pjrt/mapped_file.h"
#include "precast/wrapper.h"

namespace precast {
namespace pjrt {
namespace {

constexpr std::string_view kFromPrecastPlugin = "PRECAST_PLUGIN";
constexpr std::string_view kFromNames = "PJRT_NAMES_AND_LIBRARY_PATHS";
constexpr std::string_view kFromVirtualEnv = "VIRTUAL_ENV";

// Packages that hold a plugin, by the place of the plugin below site-packages. The first of a name
// is the one that is opened.
struct KnownPackage {
  std::string_view name;
  std::string_view file;
};
constexpr std::array<KnownPackage, 5> kKnownPackages = {{
    {"cpu", "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"},
    {"cpu", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"},
    {"cuda", "jax_plugins/xla_cuda13/xla_cuda_plugin.so"},
    {"cuda", "jax_plugins/xla_cuda12/xla_cuda_plugin.so"},
    {"tpu", "libtpu/libtpu.so"},
}};

std::string variable(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool is_file(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool is_absolute(std::string_view path) { return path.substr(0, 1) == "/"; }

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// The minor version of a folder "python3.<minor>".
std::optional<int> python_minor(std::string_view folder) {
  constexpr std::string_view kPrefix = "python3.";
  if (folder.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  folder.remove_prefix(kPrefix.size());
  if (folder.empty() || folder.size() > 4) return std::nullopt;
  int minor = 0;
  for (const char digit : folder) {
    if (digit < '0' || digit > '9') return std::nullopt;
    minor = minor * 10 + (digit - '0');
  }
  return minor;
}

// The site-packages of a virtual environment, the newest Python first.
std::vector<std::string> site_packages(const std::string& virtual_env) {
  const std::string lib = virtual_env + "/lib";
  std::vector<std::pair<int, std::string>> pythons;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(lib.c_str()), &::closedir);
  if (folder == nullptr) return {};
  while (const dirent* entry = ::readdir(folder.get())) {
    if (const auto minor = python_minor(entry->d_name)) {
      pythons.emplace_back(*minor, lib + "/" + entry->d_name + "/site-packages");
    }
  }
  std::sort(pythons.rbegin(), pythons.rend());
  std::vector<std::string> paths;
  for (auto& [minor, path] : pythons) paths.push_back(std::move(path));
  return paths;
}

void search_names(const std::string& text, Search& search) {
  if (text.empty()) {
    search.looked.push_back(std::string(kFromNames) + " (not set)");
    return;
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view entry = rest.substr(0, comma);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    if (entry.empty()) continue;
    const std::string where = std::string(kFromNames) + " ('" + std::string(entry) + "'";
    const std::size_t colon = entry.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == entry.size()) {
      search.looked.push_back(where + " is not name:path, so it was left out)");
      continue;
    }
    const std::string path(entry.substr(colon + 1));
    if (is_wrapper(path)) {
      search.looked.push_back(where + " is Precast's own plugin, so it was left out)");
    } else if (!is_absolute(path)) {
      search.looked.push_back(where + " is not an absolute path, so it was left out)");
    } else if (!is_file(path)) {
      search.looked.push_back(where + ": no such file)");
    } else {
      search.looked.push_back(where + ")");
      search.found.push_back({std::string(entry.substr(0, colon)), path, std::string(kFromNames)});
    }
  }
}

// What is found is added; `shown` stands for the folders in messages, `origin` is for
// FoundPlugin::origin.
void search_folders(const std::vector<std::string>& folders, const std::string& shown,
                    const std::string& origin, Search& search) {
  std::size_t count = 0;
  for (const std::string& folder : folders) {
    for (const KnownPackage& package : kKnownPackages) {
      std::string path = folder + "/" + std::string(package.file);
      if (!is_file(path)) continue;
      search.found.push_back({std::string(package.name), std::move(path), origin});
      ++count;
    }
  }
  search.looked.push_back(origin + " ('" + shown + "'" +
                          (count == 0 ? ": no package with a plugin)" : ")"));
}

void search_packages(const std::string& virtual_env, const std::string& origin, Search& search) {
  if (!is_absolute(virtual_env)) {
    search.looked.push_back(origin + " ('" + virtual_env +
                            "' is not an absolute path, so it was left out)");
    return;
  }
  search_folders(site_packages(virtual_env), virtual_env, origin, search);
}

// The root of the build tree that a binary lies in; empty when it lies in none. CMake's cache file
// is what tells a build tree from an installed /usr/bin.
std::string build_tree_of(const std::string& executable) {
  const std::string_view folder = folder_of(executable);
  if (!is_absolute(folder)) return {};
  const std::string_view name = last_part(folder);
  if (name != "bin" && name != "tests") return {};
  std::string tree(folder_of(folder));
  return is_file(tree + "/CMakeCache.txt") ? tree : std::string();
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
  return text;
}

Error not_found(const std::string& name, const Search& search) {
  std::string text = name.empty() ? "no plugin found" : "no plugin is named '" + name + "'";
  if (!search.found.empty()) {
    text += "; the names are:";
    for (std::size_t i = 0; i < search.found.size(); ++i) {
      const FoundPlugin& plugin = search.found[i];
      text += (i == 0 ? " " : ", ") + plugin.name + " ('" + plugin.path + "')";
    }
  }
  text += "; looked in " + joined(search.looked);
  text +=
      "; give the path of a plugin (with a slash), or activate a virtual environment that has "
      "one, for example the package lammps-jax-pjrt-cpu";
  return {ErrorCode::invalid_argument, std::move(text)};
}

// Of PRECAST_PLUGIN as a path.
Result<FoundPlugin> variable_path(const std::string& path) {
  if (is_absolute(path)) {
    return FoundPlugin{std::string(last_part(path)), path, std::string(kFromPrecastPlugin)};
  }
  return Error(ErrorCode::invalid_argument,
               std::string(kFromPrecastPlugin) + " is the relative path '" + path +
                   "'; it must be a short name or an absolute path, since a variable must not mean "
                   "another file in another folder");
}

bool is_path(const std::string& name_or_path) {
  return name_or_path.find('/') != std::string::npos;
}

}  // namespace

std::vector<std::string> mapped_packages_of(std::string_view maps) {
  constexpr std::string_view kFolder = "/site-packages/";
  std::vector<std::string> folders;
  for (const Mapping& file : mapped_files(maps)) {
    const std::size_t at = file.path.find(kFolder);
    if (at == std::string::npos) continue;
    std::string folder = file.path.substr(0, at + kFolder.size() - 1);
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
      folders.push_back(std::move(folder));
    }
  }
  return folders;
}

bool is_wrapper(std::string_view path) {
  return last_part(path).substr(0, kWrapperName.size()) == kWrapperName;
}

SearchEnvironment search_environment() {
  SearchEnvironment environment;
  environment.precast_plugin = variable("PRECAST_PLUGIN");
  environment.names_and_libraries = variable("PJRT_NAMES_AND_LIBRARY_PATHS");
  environment.virtual_env = variable("VIRTUAL_ENV");
  std::array<char, PATH_MAX> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  if (size > 0 && static_cast<std::size_t>(size) < path.size()) {
    environment.executable.assign(path.data(), static_cast<std::size_t>(size));
  }
  if (const auto maps = read_maps()) environment.mapped_packages = mapped_packages_of(*maps);
  return environment;
}

Search search(const SearchEnvironment& environment) {
  Search search;
  search_names(environment.names_and_libraries, search);
  if (environment.virtual_env.empty()) {
    search.looked.push_back(std::string(kFromVirtualEnv) + " (not set)");
  } else {
    search_packages(environment.virtual_env, std::string(kFromVirtualEnv), search);
  }
  for (const std::string& folder : environment.mapped_packages) {
    search_folders({folder}, folder, "this process's Python packages", search);
  }
  if (const std::string tree = build_tree_of(environment.executable); !tree.empty()) {
    search_packages(tree + "/venv", "the build tree", search);
  }
  return search;
}

Result<FoundPlugin> resolve(const std::string& name_or_path, const SearchEnvironment& environment) {
  if (is_path(name_or_path)) {
    return FoundPlugin{std::string(last_part(name_or_path)), name_or_path, ""};
  }
  std::string name = name_or_path;
  const bool from_variable = name.empty() && !environment.precast_plugin.empty();
  if (from_variable) {
    if (is_path(environment.precast_plugin)) return variable_path(environment.precast_plugin);
    name = environment.precast_plugin;
  }
  Search places = search(environment);
  for (const FoundPlugin& plugin : places.found) {
    if (name.empty() || plugin.name == name) return plugin;
  }
  if (name_or_path.empty()) {
    places.looked.insert(
        places.looked.begin(),
        std::string(kFromPrecastPlugin) + (from_variable ? " ('" + name + "')" : " (not set)"));
  }
  return not_found(name, places);
}

std::vector<FoundPlugin> list(const SearchEnvironment& environment) {
  std::vector<FoundPlugin> found = search(environment).found;
  const std::string& preferred = environment.precast_plugin;
  if (preferred.empty()) return found;
  if (!is_path(preferred)) {
    const auto is_preferred = [&](const FoundPlugin& plugin) { return plugin.name == preferred; };
    std::vector<FoundPlugin> sorted;
    std::copy_if(found.begin(), found.end(), std::back_inserter(sorted), is_preferred);
    std::remove_copy_if(found.begin(), found.end(), std::back_inserter(sorted), is_preferred);
    return sorted;
  }
  if (!is_absolute(preferred) || !is_file(preferred)) return found;
  const auto same = std::find_if(found.begin(), found.end(), [&](const FoundPlugin& plugin) {
    return plugin.path == preferred;
  });
  const std::string name = same == found.end() ? std::string(last_part(preferred)) : same->name;
  found.insert(found.begin(), {name, preferred, std::string(kFromPrecastPlugin)});
  return found;
}

}  // namespace pjrt

std::vector<FoundPlugin> find_plugins() { return pjrt::list(pjrt::search_environment()); }

}  // namespace precast
