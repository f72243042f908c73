// Prepare: the caller's input, checked and completed before a key is made or anything is compiled.
#pragma once

#include <vector>

#include "precast/client.h"
#include "precast/compile_options.h"
#include "precast/program.h"
#include "precast/result.h"
#include "topology/assignment.h"

namespace precast::cache {

// The client's devices as plain values.
std::vector<topology::DeviceFacts> device_facts(const std::vector<Device>& devices);
std::vector<topology::DeviceFacts> device_facts(const Client& client);

// The options with an assignment: the caller's, or the client's default. A portable executable has
// none; its devices are chosen at each run. invalid_argument when the counts exceed the devices, an
// id does not exist or stands twice.
Result<CompileOptions> with_assignment(const Client& client, const CompileOptions& options);

// Where the compiler places a program, as far as the key is concerned: its assignment. A portable
// executable runs on any one device, for which the client's default stands. Errors: the plugin's.
Result<DeviceAssignment> placed_on(const Client& client, const CompileOptions& options);

// invalid_argument when the program is a portable artifact of a newer StableHLO than the plugin
// reads. The plugin would refuse it too, with a text that guesses at three causes.
Result<void> check_program_version(const Plugin& plugin, const Program& program);

}  // namespace precast::cache
