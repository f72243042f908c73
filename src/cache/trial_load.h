// Trial load: an artifact is loaded in a process of its own, to see whether that ends the process.
//
// Bytes that pass every check are still foreign code and data to the plugin, and one that another
// host made may crash it here. The child is `precast trial-load` (src/cli/trial_load.cc).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "precast/digest.h"
#include "precast/named_value.h"

namespace precast::cache {

// Longer than any load that was seen, and bounded.
inline constexpr int kTrialLoadSeconds = 300;

struct Trial {
  std::string command;                   // the precast command
  std::string plugin;                    // Plugin::path()
  std::vector<NamedValue> options;       // Client::options()
  std::string artifact;                  // a path
  Digest root;                           // and what it must hold: other bytes are not tried
  std::vector<std::int64_t> device_ids;  // by position; empty: the client's default assignment
  int timeout_s = kTrialLoadSeconds;
};

struct TrialEnd {
  enum class Kind : std::uint8_t {
    loads,
    refused,        // the plugin gave an error
    crashed,        // the process ended without a word of ours
    timed_out,      // it did not end, and was ended
    could_not_run,  // which says nothing about the artifact
  };
  Kind kind = Kind::could_not_run;
  std::string text;  // one sentence: what the plugin or the process said
};
std::string_view to_string(TrialEnd::Kind kind);

// Blocks until the child has ended, which it does when this process does.
TrialEnd trial_load(const Trial& trial);

}  // namespace precast::cache
