#include "base/host.h"

#include <unistd.h>

#include <array>
#include <ctime>

namespace precast::base {

std::string host_name() {
  // The last byte stays zero, whatever is cut.
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

std::int64_t unix_seconds() { return static_cast<std::int64_t>(std::time(nullptr)); }

}  // namespace precast::base
