// The topology that a configuration describes.
#pragma once

#include "testing/fake_plugin/config.h"
#include "testing/fake_plugin/objects.h"

namespace precast::fake {

void fill_topology(const Config& config, PJRT_TopologyDescription& topology);

}  // namespace precast::fake
