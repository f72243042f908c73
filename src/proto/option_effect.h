// Values of XLA options by their effect: two values of one option give one text exactly when XLA
// makes the same of them, as far as Precast knows; else two.
//
// Booleans are "true" or "false"; integers and enumeration values decimal (a name that Precast does
// not know stands as it is); floats as float_effect() has them; lists joined by commas. Pure, and
// safe on any bytes.
#pragma once

#include <optional>
#include <vector>

#include "base/wire.h"
#include "precast/bytes.h"
#include "proto/xla_options.h"

namespace precast::proto {

// The value of an env_option_overrides entry (a serialized xla.OptionOverrideProto) for `option`,
// null when Precast does not know it. The int 1 and the text "1", true and "True", 0.5 and "5e-1",
// the name and the number of an enumeration value are one each.
//
// A value that XLA refuses (the compile fails) stands as "refused:" and its bytes, so it is no
// other value's equal; a text that begins with "refused:" or "text:" gets "text:" before it. For an
// unknown option the type stands before the value, because it may count.
//
// Nothing when the message does not parse or holds more than OptionOverrideProto knows: then all of
// its bytes count.
std::optional<Bytes> override_effect(const XlaOption* option, BytesView option_override);

// The value of one field of xla.DebugOptions, from all its occurrences in the message: of a scalar
// the last counts, list elements add up, packed or not. The same texts as override_effect() for
// the same effect. Presence is not this function's matter: an explicit zero is not an absent field
// to XLA (xla_backend_optimization_level, for one).
//
// Nothing for texts in lists, maps and messages, and when a wire type is not the option's: then all
// of the field's bytes count. `fields` must not be empty.
std::optional<Bytes> debug_option_effect(const XlaOption& option,
                                         const std::vector<base::WireField>& fields);

}  // namespace precast::proto
