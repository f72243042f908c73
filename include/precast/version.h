// The version of Precast. Formats have versions of their own (docs/format.md, docs/key.md).
#pragma once

#define PRECAST_VERSION_MAJOR 0
#define PRECAST_VERSION_MINOR 1
#define PRECAST_VERSION_PATCH 0
#define PRECAST_VERSION "0.1.0"
