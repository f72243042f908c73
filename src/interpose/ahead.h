// Ahead of time: what the host compiles for no client.
#pragma once

#include "interpose/wrapper.h"
#include "pjrt/c_abi.h"

namespace precast::interpose {

// Publishes what PJRT_Compile just made when a client of this process compiles for the same
// topology, whose next compile of the program then hits. PJRT has no way to make an executable that
// is not loaded out of bytes, so that the call itself never hits. `args` reach to their last
// member.
void publish_ahead(Wrapper& wrapper, const PJRT_Compile_Args& args, double compile_ms);

// Counts one that the plugin refused.
void count_refused_ahead(Wrapper& wrapper, double compile_ms);

}  // namespace precast::interpose
