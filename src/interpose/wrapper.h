// Wrapper: the functions that stand in the place of the plugin's.
//
// Everything else in the table, extensions too, is the plugin's own pointer. A function here that
// cannot do its work does what the plugin's would: nothing of the cache ever becomes the host's
// error.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/per_process.h"
#include "interpose/origins.h"
#include "interpose/settings.h"
#include "interpose/summary.h"
#include "interpose/table.h"
#include "pjrt/adopt.h"
#include "pjrt/c_abi.h"
#include "precast/cache.h"
#include "precast/client.h"
#include "precast/plugin.h"

namespace precast::interpose {

class Wrapper {
 public:
  // `plugin` was opened by pjrt::open_for_host(). One per process, never destroyed.
  Wrapper(Plugin plugin, Settings settings);
  Wrapper(const Wrapper&) = delete;
  Wrapper& operator=(const Wrapper&) = delete;

  const PJRT_Api* table() const { return table_.given(); }
  const PJRT_Api& real() const { return table_.real(); }
  const Plugin& plugin() const { return plugin_; }
  const Settings& settings() const { return settings_; }
  // Opened when it is first needed: a host that compiles nothing makes no folder.
  const Cache& cache();

  // What belongs to one process: a child has none of its parent's clients and executables, as the
  // plugin's threads are not there either.
  struct State {
    std::mutex mutex;
    std::unordered_map<PJRT_Client*, Client> clients;  // guarded by mutex
    std::set<Reason> warned;                           // guarded by mutex
    std::set<std::string> waited_for;                  // guarded by mutex
    std::shared_mutex in_use;  // shared by who uses a client that no call of the host is about
    Origins origins;
    Summary summary;
  };
  State& state() { return state_.here(); }
  // Nothing for a client that the cache knows nothing of.
  std::optional<Client> client(PJRT_Client* handle);
  std::vector<Client> clients();

  // As the members of PJRT_Api.
  PJRT_Error* create_client(PJRT_Client_Create_Args* args);
  PJRT_Error* destroy_client(PJRT_Client_Destroy_Args* args);
  PJRT_Error* compile(PJRT_Client_Compile_Args* args);
  PJRT_Error* compile_ahead(PJRT_Compile_Args* args);
  PJRT_Error* load(PJRT_Client_Load_Args* args);
  PJRT_Error* get_executable(PJRT_LoadedExecutable_GetExecutable_Args* args);
  PJRT_Error* serialize(PJRT_Executable_Serialize_Args* args);
  PJRT_Error* destroy_executable(PJRT_Executable_Destroy_Args* args);
  PJRT_Error* destroy_loaded(PJRT_LoadedExecutable_Destroy_Args* args);

  // The line of PRECAST_SUMMARY, if it was asked for: also where nothing was compiled.
  void say_summary();

 private:
  // What is known before the plugin makes a client.
  struct Creation {
    pjrt::BeforeClient before;
    std::vector<NamedValue> options;
    std::optional<int> unknown_extension;
  };
  Result<void> adopt(PJRT_Client* client, Creation creation);
  void try_to_adopt(PJRT_Client* client, std::optional<Creation> creation) noexcept;
  // Makes what is known of a handle known of another one that came from it.
  void inherit(const void* from, const void* to) noexcept;
  void tell(const Waiting& waiting);

  const Plugin plugin_;
  const Settings settings_;
  Table table_;
  struct OpenedCache {
    std::once_flag once;
    std::optional<Cache> cache;
  };
  base::PerProcess<OpenedCache> cache_;
  base::PerProcess<State> state_;
};

}  // namespace precast::interpose
