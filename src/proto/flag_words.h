// The text of XLA_FLAGS, cut into words as XLA cuts it. Internal to flags_parse.h.
#pragma once

#include <string>
#include <vector>

#include "precast/bytes.h"

namespace precast::proto {

struct FlagWords {
  // Each begins with a dash. Quotes are gone; the word ends at a NUL, as a C string does.
  std::vector<std::string> words;
  // What stands behind the place where XLA stops, by white space.
  std::vector<std::string> ignored;
};

FlagWords split_flags(BytesView text);

}  // namespace precast::proto
