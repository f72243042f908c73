// Refusal: the function table of a wrapper that cannot work. Every function in it gives one error,
// so that the host says what is wrong in its own way, where a null table would end most of them.
#pragma once

#include <string>

#include "pjrt/c_abi.h"

namespace precast::interpose {

// `message` is what the host shows. The table is never freed. One per process: a second call
// replaces the message.
const PJRT_Api* refusal(std::string message);

}  // namespace precast::interpose
