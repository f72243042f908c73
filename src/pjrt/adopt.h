// For whoever stands between a plugin and a host that calls it: the plugin is initialized by the
// host, and its clients and executables are the host's.
#pragma once

#include <string>
#include <vector>

#include "pjrt/c_abi.h"
#include "pjrt/handles.h"
#include "precast/bytes.h"
#include "precast/client.h"
#include "precast/compile_options.h"
#include "precast/executable.h"
#include "precast/named_value.h"
#include "precast/plugin.h"
#include "precast/program.h"
#include "precast/result.h"

namespace precast::pjrt {

// As Plugin::open of a path, but nothing is called before the host does: attributes() is empty
// until the first client was adopted.
Result<Plugin> open_for_host(const std::string& path);

// What is read before the plugin creates a client, so that it is what the plugin sees.
struct BeforeClient {
  Client::FlagSnapshot flags;
  int cpu_count = 1;
};
BeforeClient before_client(const Plugin& plugin);
// After the plugin created a client, or compiled: what was read before it is what it saw, for the
// rest of the process.
void keep(const Plugin& plugin, const BeforeClient& before);

// A client that the host created with these options, and destroys: no call may be made through the
// result after that. Errors: those of the plugin's functions.
Result<Client> adopt_client(const Plugin& plugin, PJRT_Client* client,
                            std::vector<NamedValue> options, BeforeClient before);

// An executable that was compiled a moment ago. Takes the handle also when it fails.
Result<CompiledExecutable> describe_compiled(const Client& client,
                                             Handle<PJRT_LoadedExecutable> loaded,
                                             const Program& program, const CompileOptions& options);

// The plugin's handle, which the caller destroys. Afterwards `executable` and its copies must not
// be used; they still may be destroyed.
PJRT_LoadedExecutable* release(const LoadedExecutable& executable);

// What a topology and an unloaded executable are serialized to. unsupported, plugin_error.
Result<Bytes> serialized_topology(const Plugin& plugin, const PJRT_TopologyDescription* topology);
Result<Bytes> serialized_executable(const Client& client, const PJRT_Executable* executable);

}  // namespace precast::pjrt
