// ProgramSignature: what a compiled program takes and gives, per device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "precast/export.h"
#include "precast/tensor_type.h"

namespace precast {

// Whether a run consumes the buffer of a parameter. Persisted: append only.
enum class Donation : std::uint8_t {
  none = 0,
  may_alias = 1,   // the compiler may reuse the buffer for a result
  must_alias = 2,  // the buffer becomes a result
  donor = 3,       // the buffer may be reused for anything
};

PRECAST_EXPORT std::string_view to_string(Donation donation);  // "may_alias"

struct PRECAST_EXPORT TensorSpec {  // A parameter or a result.
  TensorType type;
  // Dimension numbers from the fastest varying to the slowest. Row-major of rank 2 is {1, 0}.
  std::vector<std::int64_t> minor_to_major;
  // True when the layout has tiles or other properties that minor_to_major does not tell.
  bool has_tiles = false;
  // "device", "pinned_host", ...; empty when the plugin does not say.
  std::string memory_kind;
  // Serialized xla.OpSharding; empty when there is none.
  std::string sharding;
  Donation donation = Donation::none;  // parameters only

  bool is_row_major() const;
  // "f32[4,8]", with "{0,1}" behind it when it is not row-major.
  std::string to_string() const;
  bool operator==(const TensorSpec&) const = default;
};

struct PRECAST_EXPORT ProgramSignature {
  std::string name;  // the module's name
  std::vector<TensorSpec> parameters;
  std::vector<TensorSpec> results;

  bool operator==(const ProgramSignature&) const = default;
};

}  // namespace precast
