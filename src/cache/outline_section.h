// The outline that an artifact holds.
#pragma once

#include "precast/bytes.h"
#include "precast/outline.h"

namespace precast::cache {

// The decoded section. When it is empty or damaged, an outline without functions that says so:
// an outline explains, and its absence is no error.
Outline outline_from_section(BytesView section);

}  // namespace precast::cache
