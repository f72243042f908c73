// Plugin: a PJRT shared library, opened.
//
//   PRECAST_ASSIGN(Plugin plugin, Plugin::open("cpu"));
//   PRECAST_ASSIGN(Client client, plugin.create_client({}));
//
// A plugin is opened once per process and path and never closed, because PJRT plugins start threads
// that outlive dlclose. Plugin is a handle: copies are cheap and share it, and it may be used from
// several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "precast/client.h"
#include "precast/digest.h"
#include "precast/export.h"
#include "precast/named_value.h"
#include "precast/result.h"

namespace precast {

struct ApiVersion {  // Of PJRT's C API.
  int major = 0;
  int minor = 0;
  auto operator<=>(const ApiVersion&) const = default;
  std::string to_string() const { return std::to_string(major) + "." + std::to_string(minor); }
};

// A plugin that was found, not opened.
struct FoundPlugin {
  std::string name;    // short name: "cpu", "cuda", "tpu", or as PJRT_NAMES_AND_LIBRARY_PATHS says
  std::string path;    // absolute
  std::string origin;  // why it was found, for example "PRECAST_PLUGIN"
};

// What a plugin can do, found by looking at its function table and extensions, not by calling.
struct PluginCapabilities {
  bool serialize = false;
  bool deserialize_and_load = false;
  bool override_compile_options = false;  // PJRT >= 0.71
  bool get_compile_options = false;
  bool optimized_program = false;
  bool topology = false;
  bool topology_fingerprint = false;
  bool memory_kinds_of_parameters = false;
  bool cost_analysis = false;
  std::vector<std::string>
      extensions;  // names, in the order of the chain; unknown ones as "type<n>"
  // Those of them whose struct ends before that of PJRT 0.114: their last functions are not there.
  std::vector<std::string> short_extensions;
};

// The bytes that are mapped into the process.
struct PluginFile {
  std::string path;  // of the mapping
  std::uint64_t bytes = 0;
  Digest digest;  // SHA-256 of the file whose device and inode are the mapping's
};

class PRECAST_EXPORT Plugin {
 public:
  // `name_or_path`: a path (it holds a slash), a short name, or empty for the first plugin found.
  // The order is: explicit path; PRECAST_PLUGIN (only when the argument is empty);
  // PJRT_NAMES_AND_LIBRARY_PATHS; the active virtual environment (VIRTUAL_ENV); the packages of a
  // Python that runs in this process; for a binary in a build tree, that tree's venv. No name finds
  // Precast's own plugin (libprecast_pjrt*.so). Never a folder relative to the working directory.
  // Errors: invalid_argument when there is no such file or name (the message lists where it looked
  // and the names that exist) or the file is not a plugin; unsupported for another major version of
  // the API; plugin_error when the plugin's own initialisation fails.
  static Result<Plugin> open(const std::string& name_or_path);

  const std::string& path() const;
  ApiVersion api_version() const;
  std::size_t api_struct_size() const;
  // Attributes as the plugin reports them ("stablehlo_current_version", ...).
  const std::vector<NamedValue>& attributes() const;
  const PluginCapabilities& capabilities() const;

  // The digest of the bytes that are mapped. Its value is remembered per user and process.
  // unavailable when the file on disk is no longer the one that is mapped (it was replaced or
  // removed), which must bypass the cache.
  Result<PluginFile> mapped_file() const;

  // Creates a client. Blocks; the first client of a plugin in a process also makes the plugin read
  // XLA_FLAGS. plugin_error with the plugin's text when it refuses, for example on an unknown
  // option.
  Result<Client> create_client(const std::vector<NamedValue>& options) const;

  struct Impl;
  const std::shared_ptr<Impl>& impl() const { return impl_; }
  explicit Plugin(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

// Every plugin that Plugin::open could find by name, in its order, without opening any. Nothing
// found is an empty list.
PRECAST_EXPORT std::vector<FoundPlugin> find_plugins();

}  // namespace precast
