// Trial load: an artifact is loaded in a process of its own, to see whether that ends the process.
//
// Bytes that pass every check are still foreign code and data to the plugin, and one that another
// host made may crash it here. The child is `precast trial-load` (src/cli/trial_load.cc). It says
// when it begins to load: what happens before says nothing about the artifact.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "precast/bytes.h"
#include "precast/digest.h"
#include "precast/named_value.h"
#include "precast/result.h"

namespace precast::cache {

// Longer than any load that was seen, and bounded.
inline constexpr int kTrialLoadSeconds = 300;

struct Trial {
  std::string command;                   // the precast command
  std::string plugin;                    // Plugin::path()
  std::vector<NamedValue> options;       // Client::options()
  int artifact = -1;                     // a descriptor of its bytes, from in_memory()
  Digest root;                           // and what it must hold: other bytes are not tried
  std::vector<std::int64_t> device_ids;  // by position; empty: the client's default assignment
  int timeout_s = kTrialLoadSeconds;
};

struct TrialEnd {
  enum class Kind : std::uint8_t {
    loads,
    refused,        // the plugin gave an error
    crashed,        // loading began and ended the process
    timed_out,      // loading began and did not end
    could_not_run,  // which says nothing about the artifact
  };
  Kind kind = Kind::could_not_run;
  std::string text;  // one sentence: what the plugin or the process said
};
std::string_view to_string(TrialEnd::Kind kind);

// A copy that a child can read wherever the original is: a store may hang.
Result<base::Fd> in_memory(BytesView artifact);

// Blocks until the child has ended, which it does when this process does.
TrialEnd trial_load(const Trial& trial);

}  // namespace precast::cache
