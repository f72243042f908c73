// What the fake plugin pretends to be, and the faults it injects, read from the environment.
// testing/README.md documents the variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pjrt/c_abi.h"

namespace precast::fake {

using AttributeValue =
    std::variant<std::string, std::int64_t, std::vector<std::int64_t>, float, bool>;

struct Attribute {
  std::string name;
  AttributeValue value;
};

struct Fault {
  std::string function;
  bool abort = false;  // the process dies instead of seeing an error
  PJRT_Error_Code code = PJRT_Error_Code_INTERNAL;
  std::string message;
  std::uint64_t first = 1;  // the first call that fails, counted from 1
  bool sticky = true;       // every later call fails as well
};

struct Config {
  int major = 0;
  int minor = 115;
  std::size_t struct_size = pjrt::kStructSize<PJRT_Api>;
  std::vector<std::string> null_members;

  std::string platform_name = "cpu";
  std::string platform_version = "cpu";
  std::vector<Attribute> attributes;

  int device_count = 4;
  int process_index = 0;
  // Per device; where a list is shorter than device_count, its last item goes on.
  std::vector<int> device_ids;  // where empty: 0, 1, ...
  std::vector<std::string> device_kinds{"cpu"};
  std::vector<int> process_indices;  // where empty: process_index
  std::vector<std::vector<Attribute>> device_attributes;

  std::string triple = "x86_64-unknown-linux-gnu";
  std::string cpu = "fake-cpu";
  std::string features = "+avx,+avx2,+prefer-no-gather,+sse2";
};

struct Behaviour {
  std::vector<Fault> faults;
  std::map<std::string, int> latency_ms;
  std::map<std::string, int> chatter_lines;
  std::string counter_path;
  std::string log_path;
};

// The variables of Behaviour as they stand in the environment.
struct BehaviourText {
  std::string faults;
  std::string latency;
  std::string chatter;
  std::string counter;
  std::string log;
  bool operator==(const BehaviourText&) const = default;
};
BehaviourText read_behaviour_text();

// A text that cannot be read ends the process with a message: a test that mistypes one must not
// pass.
Behaviour parse_behaviour(const BehaviourText& text);
Config read_config();

// Splits at every `separator`; an empty text has no parts.
std::vector<std::string> split(std::string_view text, char separator);

// The code of a name such as "INVALID_ARGUMENT"; false when there is no such name.
bool parse_error_code(std::string_view name, PJRT_Error_Code* code);

}  // namespace precast::fake
