// Inputs in which every field has something, for tests and goldens. The goldens hold them: do not
// change them.
#pragma once

#include "key/key_inputs.h"

namespace precast::key {

KeyInputs sample_inputs();

}  // namespace precast::key
