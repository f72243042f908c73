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

// invalid_argument when the request's baseline is none of the table, or is not for this client's
// architecture, or the client's CPU does not reach it.
Result<void> check_baseline(const Client& client, const RequestOptions& request);

// The plugin by its mapped bytes, with what of its surroundings goes into its code under these
// options, which have an assignment. unavailable when the mapped file cannot be identified; what
// gpu_parts() says of surroundings that are not known.
Result<key::PluginIdentity> plugin_identity(const Client& client, const CompileOptions& options);

// Whether options or flags in a record name files, so that another content of these would have been
// another record.
bool names_files(const KeyRecord& record);

// The key of a compile with complete options (prepare.h), or why there must be none. Errors:
// invalid_argument for the caller's options; what the plugin said when it failed to describe
// itself.
Result<KeyResult> identify(const Client& client, const Program& program,
                           const CompileOptions& options, const RequestOptions& request);

}  // namespace precast::cache
