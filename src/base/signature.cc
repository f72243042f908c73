#include "precast/signature.h"

namespace precast {

std::string_view to_string(Donation donation) {
  switch (donation) {
    case Donation::none: return "none";
    case Donation::may_alias: return "may_alias";
    case Donation::must_alias: return "must_alias";
    case Donation::donor: return "donor";
  }
  return "unknown";
}

bool TensorSpec::is_row_major() const {
  if (has_tiles) return false;
  for (std::size_t i = 0; i < minor_to_major.size(); ++i) {
    if (minor_to_major[i] != static_cast<std::int64_t>(minor_to_major.size() - 1 - i)) return false;
  }
  return true;
}

std::string TensorSpec::to_string() const {
  std::string text = type.to_string();
  if (is_row_major()) return text;
  text += "{";
  for (std::size_t i = 0; i < minor_to_major.size(); ++i) {
    if (i != 0) text += ",";
    text += std::to_string(minor_to_major[i]);
  }
  return text + (has_tiles ? ":tiled}" : "}");
}

}  // namespace precast
