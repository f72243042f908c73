// Compatible: whether an artifact may be loaded here.
#pragma once

#include <cstdint>

#include "key/key_inputs.h"
#include "precast/bytes.h"
#include "precast/cache.h"
#include "precast/client.h"
#include "precast/compile_options.h"
#include "precast/key.h"
#include "precast/result.h"
#include "proto/executable_view.h"
#include "topology/placement.h"

namespace precast::cache {

// Where a record comes from.
enum class RecordOrigin : std::uint8_t {
  this_request,  // made a moment ago for this client and these options: it cannot differ from them
  artifact,      // read from an artifact that may be anybody's
};

// incompatible unless `here` is of the architecture and has the features that an executable says it
// needs.
Result<void> runs_on(const proto::CpuTarget& here, const proto::CpuTarget& needed);

// incompatible, with what differs, unless a record from an artifact was made by this plugin, for
// this placement, and for features that this CPU has.
Result<void> check_made_here(const KeyRecord& record, key::PluginIdentity plugin,
                             topology::Placement placement, const proto::CpuTarget& cpu);

// incompatible, with what differs, unless the artifact was compiled by these plugin bytes, for this
// kind of devices, and for CPU features that this client has. What the executable itself says about
// its CPU is checked besides what the record says: an executable that names a missing feature would
// load with a log line and run until it meets the instruction. unavailable when the mapped plugin
// cannot be identified. `options` have an assignment.
Result<void> check_compatible(const Client& client, const KeyRecord& record, RecordOrigin origin,
                              BytesView executable, const CompileOptions& options);

}  // namespace precast::cache
