// What stands behind a Plugin.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pjrt/call.h"
#include "pjrt/digest_memory.h"
#include "pjrt/mapped_file.h"
#include "precast/client.h"
#include "precast/plugin.h"
#include "precast/result.h"

namespace precast {

struct Plugin::Impl {
  Impl(const PJRT_Api* table, std::string real_path) : api(table), path(std::move(real_path)) {}

  const pjrt::Api api;
  const std::string path;
  const void* entry_point = nullptr;  // the address of GetPjrtApi: in the library's own mapping
  pjrt::FileIdentity opened;          // the file just before it was mapped
  bool was_loaded = false;            // into this process, before Precast opened it
  std::vector<NamedValue> attributes;
  PluginCapabilities capabilities;

  std::mutex adopt_mutex;
  bool attributes_read = false;  // guarded by adopt_mutex; only of a plugin that a host initializes

  std::mutex hashed_mutex;  // held while the file is hashed
  std::optional<pjrt::HashedFile> hashed;
  std::mutex flags_mutex;
  std::optional<Client::FlagSnapshot> flags;
  std::optional<Client::FlagSnapshot> tried_flags;  // before the first call; guarded as `flags`
  // The debug options of a trivial compile, where flags were uncertain and somebody asked; guarded
  // by flags_mutex.
  std::optional<Bytes> effective_options;
};

namespace pjrt {

// The part of Plugin::open that checks a table: the major version, and a size that holds the
// version and the functions without which no error can be read. Errors: invalid_argument,
// unsupported.
Result<void> check_table(const PJRT_Api* table);

// Fills `attributes`. The plugin must have been initialized.
Result<void> read_attributes(Plugin::Impl& plugin);

// XLA_FLAGS and LIBTPU_INIT_ARGS as the plugin has them: those of keep_flags(), else those that the
// environment has now. Not certain where they were others at a call before that failed.
Client::FlagSnapshot flags_before(Plugin::Impl& plugin);
// What flags_before() gave before a call that succeeded, and that made the plugin read its flags.
void keep_flags(Plugin::Impl& plugin, const Client::FlagSnapshot& flags);

}  // namespace pjrt
}  // namespace precast
