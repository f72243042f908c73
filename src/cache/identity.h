// Identity: what a client contributes to a key, read from the plugin as plain values.
//
// The same functions fill a new key and the fields that an artifact's record is compared with on
// load, so the two cannot drift apart.
#pragma once

#include "key/key_inputs.h"
#include "precast/cache.h"
#include "precast/client.h"
#include "precast/compile_options.h"
#include "precast/key.h"
#include "precast/program.h"
#include "precast/result.h"
#include "proto/executable_view.h"

namespace precast::cache {

// The CPU that the client compiles for, as the plugin says it. unsupported when it does not say.
Result<proto::CpuTarget> host_cpu(const Client& client);

// The plugin by its mapped bytes. unavailable when the mapped file cannot be identified.
Result<key::PluginIdentity> plugin_identity(const Client& client);

// The key of a compile with complete options (prepare.h), or why there must be none. Errors:
// invalid_argument for the caller's options; what the plugin said when it failed to describe
// itself.
Result<KeyResult> identify(const Client& client, const Program& program,
                           const CompileOptions& options, const RequestOptions& request);

}  // namespace precast::cache
