// Counters as text: for people, as JSON, and for Prometheus.
#pragma once

#include <cstdint>
#include <string>

#include "cli/json.h"
#include "precast/result.h"
#include "precast/stats.h"

namespace precast::cli {

// "0.71 ms", "12.3 s", "4.50 min", "3.20 h", "2.10 d": three digits, the largest unit that gives at
// least one.
std::string duration_text(double ms);

// A moment as --since takes it: an age ("2h", "3d") before `now_unix_s`, or a date of UTC, with a
// time of day or without. invalid_argument otherwise.
Result<std::int64_t> parse_since(const std::string& text, std::int64_t now_unix_s);

Json json_of(const Stats& stats);

// The text exposition format, version 0.0.4.
std::string prometheus_text(const Stats& stats);

}  // namespace precast::cli
