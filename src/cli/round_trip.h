// A whole round on a client: compile, store, load, run.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "precast/client.h"

namespace precast::cli {

struct RoundTrip {
  std::string compile;  // the outcome of the first request; "miss" is right
  std::string load;     // of the second; "hit" is right
  std::optional<std::string> problem;
  // What a plugin may do without, asked of the executable: the question, and the plugin's words
  // when it refused.
  std::vector<std::pair<std::string, std::optional<std::string>>> answers;
};

// Compiles a tiny program into a private store, loads it from there and runs it.
RoundTrip try_round_trip(const Client& client);

}  // namespace precast::cli
