// Compatible: whether an artifact may be loaded here.
#pragma once

#include <string>
#include <vector>

#include "precast/bytes.h"
#include "precast/cache.h"
#include "precast/client.h"
#include "precast/device_assignment.h"
#include "precast/key.h"
#include "precast/result.h"

namespace precast::cache {

// incompatible, with what differs, unless the artifact was compiled by these plugin bytes, for this
// kind of devices, and for CPU features that this client has. What the executable itself says about
// its CPU is checked besides what the record says: an executable that names a missing feature would
// load with a log line and run until it meets the instruction. unavailable when the mapped plugin
// cannot be identified.
Result<void> check_compatible(const Client& client, const KeyRecord& record, BytesView executable,
                              const DeviceAssignment& assignment);

}  // namespace precast::cache
