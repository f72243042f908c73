// Where plugins are looked for. Looks at files, opens none as a library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "precast/plugin.h"
#include "precast/result.h"

namespace precast::pjrt {

// Everything of the process that the search depends on.
struct SearchEnvironment {
  std::string precast_plugin;       // PRECAST_PLUGIN
  std::string names_and_libraries;  // PJRT_NAMES_AND_LIBRARY_PATHS
  std::string virtual_env;          // VIRTUAL_ENV
  std::string executable;           // the running binary, absolute; empty when unknown
  // Folders of Python packages out of which libraries are mapped: those of the interpreter that
  // runs in this process, also where its virtual environment was not activated.
  std::vector<std::string> mapped_packages;
};

// Of this process. A variable that is not set, or that a privileged process must not trust, is
// empty.
SearchEnvironment search_environment();

// The folders "site-packages" in the text of /proc/self/maps, each once, in its order.
std::vector<std::string> mapped_packages_of(std::string_view maps);

// Whether a file is, by its name, Precast's own plugin, which wraps others: no search finds it.
bool is_wrapper(std::string_view path);

struct Search {
  std::vector<FoundPlugin> found;   // in the order in which they are tried
  std::vector<std::string> looked;  // one line per place, with what was wrong there
};

// Plugins that have a short name: PJRT_NAMES_AND_LIBRARY_PATHS, the virtual environment, the
// packages of the interpreter in this process, and the venv of the build tree that the running
// binary lies in.
Search search(const SearchEnvironment& environment);

// The plugin that Plugin::open opens for `name_or_path`; origin is empty when it is a path. Errors
// as there, without looking into the file.
Result<FoundPlugin> resolve(const std::string& name_or_path, const SearchEnvironment& environment);

// As precast::find_plugins().
std::vector<FoundPlugin> list(const SearchEnvironment& environment);

}  // namespace precast::pjrt
