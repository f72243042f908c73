// What stands behind a Plugin.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/per_process.h"
#include "base/settled.h"
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
  base::Settled<std::vector<NamedValue>> attributes;  // once the plugin was initialized
  PluginCapabilities capabilities;

  struct Hashed {
    std::mutex mutex;  // held while the file is hashed
    std::optional<pjrt::HashedFile> file;
  };
  base::PerProcess<Hashed> hashed;

  // As plugin.cc's keep_flags() and flags_before() have it.
  base::Settled<Client::FlagSnapshot> flags;
  base::Settled<Client::FlagSnapshot> tried_flags;  // before the first call
  std::atomic<bool> flags_changed = false;          // before a later one, and none had succeeded
  // The debug options of a trivial compile, where flags were uncertain and somebody asked.
  base::Settled<Bytes> effective_options;
};

namespace pjrt {

// The part of Plugin::open that checks a table: the major version, and a size that holds the
// version and the functions without which no error can be read. Errors: invalid_argument,
// unsupported.
Result<void> check_table(const PJRT_Api* table);

// Settles `attributes`. The plugin must have been initialized.
Result<void> read_attributes(Plugin::Impl& plugin);

// XLA_FLAGS and LIBTPU_INIT_ARGS as the plugin has them: those of keep_flags(), else those that the
// environment has now. Not certain where they were others at a call before that failed, or that the
// parent of this process had under way.
Client::FlagSnapshot flags_before(Plugin::Impl& plugin);
// What flags_before() gave before a call that succeeded, and that made the plugin read its flags.
void keep_flags(Plugin::Impl& plugin, const Client::FlagSnapshot& flags);

}  // namespace pjrt
}  // namespace precast
