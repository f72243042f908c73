// Identity: the parts of a key that come from a client, in the form that the record has.
//
// The same functions make the record of a new key and the fields that an artifact's record is compared with on load, so
// the two cannot drift apart.
#pragma once

#include <string>
#include <string_view>

#include "precast/cache.h"
#include "precast/client.h"
#include "precast/key.h"
#include "precast/program.h"
#include "precast/result.h"
#include "proto/executable_view.h"

namespace precast::cache {

// The CPU that the client compiles for, as the plugin says it. unsupported when it does not say.
Result<proto::CpuTarget> host_cpu(const Client& client);

// The plugin field of this client's records. unavailable when the mapped file cannot be identified.
Result<KeyField> plugin_field(const Client& client);

// The key of a compile with complete options (they have an assignment), or why there must be none.
Result<KeyResult> identify(const Client& client, const Program& program,
                           const CompileOptions& options, const RequestOptions& request);

}  // namespace precast::cache
