// What a key is made of, as plain values: whoever knows the plugin fills this in, and no code here
// asks a plugin, a file or the environment for anything.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "precast/digest.h"
#include "precast/named_value.h"
#include "precast/plugin.h"
#include "program/program_digest.h"
#include "proto/canonical_options.h"
#include "proto/executable_view.h"
#include "topology/placement.h"

namespace precast::key {

// Versions of the rules that decide what counts. Each is in every record, so a change of a rule
// changes every key. Raise the version whenever the rule changes: two versions of Precast must
// never give one key to two compilations.
inline constexpr int kKeySchemaVersion = 3;             // the fields and how they are filled
inline constexpr int kCanonicalOptionsVersion = 2;      // proto/canonical_options.cc
inline constexpr int kFlagsVersion = 2;                 // 2: what is in force, not the text
inline constexpr int kNeutralClientOptionsVersion = 1;  // is_neutral_client_option
inline constexpr int kEnvironmentVersion = 1;           // environment_names
inline constexpr int kPlacementVersion = 1;             // topology/placement.cc
inline constexpr int kCpuFeaturesVersion = 1;           // topology/cpu_features.cc

// XLA reads its flags once, when the plugin's first client is created; what counts is what it took
// at that moment.
struct Flags {
  std::vector<proto::OptionItem> xla;  // proto::canonical_flags(), or what was read back
  std::string libtpu_init_args;        // the text as it is
};

struct PluginIdentity {
  std::string platform;          // "cpu"
  std::string platform_version;  // no build id on the CPU ("cpu"): the digest tells builds apart
  Digest sha256;                 // of the bytes that are mapped into the process
  ApiVersion api_version;
  std::vector<NamedValue> attributes;
  // What of the process beside the plugin goes into its code, by name: libraries, compilers.
  std::vector<std::pair<std::string, Bytes>> parts;
};

// The CPU that host code is made for.
struct HostCpu {
  proto::CpuTarget target;
  int count = 1;  // XLA partitions large operations by it
  // "x86-64-v3": the code may run on any CPU of this level, so that of the target only the
  // architecture counts, and the count of CPUs does not. Empty: this CPU.
  std::string baseline;
};

struct KeyInputs {
  program::ProgramDigest program;
  std::vector<proto::OptionItem> options;  // CanonicalOptions::items
  Flags flags;
  std::vector<NamedValue> client_options;
  // Variables that are set, with their values. Those that are not in environment_names(platform) do
  // not count.
  std::vector<std::pair<std::string, std::string>> environment;
  PluginIdentity plugin;
  topology::Placement placement;
  // Nothing when the plugin emits no host code.
  std::optional<HostCpu> cpu;
  // The user's own.
  std::string salt;
  Bytes annotations;
  std::vector<std::pair<std::string, Bytes>> extras;  // by name; their order does not count
};

// The environment variables that reach code on a platform, beyond the flags and the CPU count.
// For a platform that is not known: those of all platforms.
std::vector<std::string_view> environment_names(std::string_view platform);

// Whether a client option was measured to leave code alone on this platform.
bool is_neutral_client_option(std::string_view platform, std::string_view name);

}  // namespace precast::key
