// Log: lines on standard error. The wrapper lives in processes that have nowhere else to look.
#pragma once

#include <optional>
#include <string_view>

#include "precast/cache.h"

namespace precast::interpose {

// From now on what is less than `least` is not said; nothing: nothing is. Warnings are, before.
void set_log_level(std::optional<LogLevel> least);

bool says(LogLevel level);
// One line, "[precast] <text>", in one write; control characters in the text become spaces, and
// what is too long for one write is cut. Dropped where nobody reads it: it never waits, raises no
// SIGPIPE, and leaves errno as it was.
void say(LogLevel level, std::string_view text) noexcept;
// Whatever the level.
void say_always(std::string_view text) noexcept;

}  // namespace precast::interpose
