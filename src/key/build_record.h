// From the values of a compilation to its record.
#pragma once

#include <optional>

#include "key/key_inputs.h"
#include "precast/key.h"

namespace precast::key {

// The field `program`, which needs nothing but the program.
KeyField program_field(const program::ProgramDigest& program);

// The fields, in this order: schema, program, options, flags, client_options, environment, plugin,
// placement, cpu, extra. docs/key.md says what is in each and why. Pure: equal inputs give equal
// records, on every machine.
KeyRecord build_record(const KeyInputs& inputs);

// The record of the same compile without the profile that guides it; nothing when there is none.
std::optional<KeyRecord> without_profile(const KeyRecord& record);

}  // namespace precast::key
