// Inputs in which every field has something, for tests and goldens. The newest golden holds
// them: whoever changes them adds a golden.
#pragma once

#include "key/key_inputs.h"

namespace precast::key {

KeyInputs sample_inputs();

}  // namespace precast::key
