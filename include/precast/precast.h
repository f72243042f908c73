// Everything of the public C++ API.
#pragma once

#include "precast/artifact.h"  // IWYU pragma: export
#include "precast/cache.h"
#include "precast/cache_folder.h"       // IWYU pragma: export
#include "precast/client.h"             // IWYU pragma: export
#include "precast/compile_options.h"    // IWYU pragma: export
#include "precast/device_assignment.h"  // IWYU pragma: export
#include "precast/executable.h"         // IWYU pragma: export
#include "precast/explain.h"            // IWYU pragma: export
#include "precast/flags.h"              // IWYU pragma: export
#include "precast/foreign.h"            // IWYU pragma: export
#include "precast/key.h"                // IWYU pragma: export
#include "precast/leases.h"             // IWYU pragma: export
#include "precast/outline.h"            // IWYU pragma: export
#include "precast/plugin.h"             // IWYU pragma: export
#include "precast/program.h"            // IWYU pragma: export
#include "precast/result.h"             // IWYU pragma: export
#include "precast/signature.h"          // IWYU pragma: export
#include "precast/stats.h"              // IWYU pragma: export
#include "precast/tensor_type.h"        // IWYU pragma: export
#include "precast/version.h"            // IWYU pragma: export
