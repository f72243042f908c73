// Ages and sizes as people write and read them.
#pragma once

#include <cstdint>
#include <string>

#include "precast/result.h"

namespace precast::cli {

// "45 s", "12 min", "3 h", "5 d", "2 y": the largest unit that gives at least one; "0 s" for what
// lies in the future.
std::string age_text(std::int64_t seconds);

// Seconds from "90s", "15min", "12h", "7d", "2w", "1y"; a number alone is seconds.
// invalid_argument otherwise.
Result<std::int64_t> parse_age(const std::string& text);

// Bytes from "4096", "10kB", "1.5MB", "2GB", "1GiB" (case does not matter, the B may be left out).
// invalid_argument otherwise.
Result<std::uint64_t> parse_size(const std::string& text);

}  // namespace precast::cli
