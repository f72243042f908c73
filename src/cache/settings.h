// Settings: options, flags and environment as they count in a key, whoever compiles.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "precast/bytes.h"
#include "precast/cache.h"
#include "precast/client.h"
#include "precast/compile_options.h"
#include "precast/result.h"
#include "program/custom_calls.h"
#include "proto/canonical_options.h"
#include "proto/flags_parse.h"

namespace precast::cache {

// No key, and why.
KeyResult bypass(Reason reason, std::string detail);

// The variables of key::environment_names() that are set: what the runtime will read when it
// compiles.
std::vector<std::pair<std::string, std::string>> environment(std::string_view platform);

// invalid_argument for an extra that could not be read back from a record.
Result<void> check_extras(const RequestOptions& request);

// XLA's flags as the plugin took them, and what was parsed.
struct FlagsInForce {
  proto::FlagsText flags;
  Bytes text;  // of the variable, or of the file that it names
};
// invalid_argument when the file that the variable names cannot be read.
Result<FlagsInForce> flags_in_force(const Client::FlagSnapshot& snapshot);

// What the user thinks is in force and is not.
std::vector<std::string> warnings_of(const proto::FlagsText& flags);

// Options and flags as they count.
struct Settings {
  std::vector<proto::OptionItem> options;
  std::vector<proto::OptionItem> flags;
};
// Nothing in the first place of the pair when there must be no key; the second says why.
Result<std::pair<std::optional<Settings>, std::string>> settings_of(const FlagsInForce& in_force,
                                                                    const CompileOptions& options,
                                                                    std::string_view platform);

// Why a program that calls these must not be cached on several partitions; nothing when it may.
std::optional<KeyResult> bypass_by_partitioning(const program::CustomCallScan& calls,
                                                const CompileOptions& options);

// Why a program that calls these must not be cached; nothing when it may. `binds_callbacks`: the
// front end binds callbacks again, by index, at each load.
std::optional<KeyResult> bypass_by_calls(const program::CustomCallScan& calls,
                                         bool binds_callbacks);

}  // namespace precast::cache
