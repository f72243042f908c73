// NamedValue: PJRT's options and attributes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "precast/export.h"
#include "precast/result.h"

namespace precast {

struct PRECAST_EXPORT NamedValue {
  using Value = std::variant<std::string, std::int64_t, std::vector<std::int64_t>, float, bool>;

  std::string name;
  Value value;

  // The value as text: "4", "1,13,0", "true".
  std::string value_text() const;

  // From "name=value" of a command line: true/false are bool, integers int64, comma-separated
  // integers a list, numbers with a point float, the rest a string; 'name:string=4' (also :int,
  // :ints, :float, :bool) fixes the type. invalid_argument when there is no '=', the name is empty,
  // or the text does not fit the type.
  static Result<NamedValue> parse(const std::string& text);

  bool operator==(const NamedValue&) const = default;
};

}  // namespace precast
