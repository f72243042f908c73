#include "cli/stats_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <string_view>
#include <utility>

#include "cli/amounts.h"
#include "cli/text.h"

namespace precast::cli {
namespace {

std::string iso_text(std::int64_t unix_s) {
  const std::time_t time = unix_s;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Json json_of(const Tally& tally) {
  return {{"count", tally.count},
          {"saved_ms", rounded_ms(tally.saved_ms)},
          {"bytes_read", tally.bytes_read},
          {"bytes_written", tally.bytes_written}};
}

Json json_of(const std::map<std::string, Tally>& results) {
  Json object = Json::object();
  for (const auto& [name, tally] : results) object[name] = json_of(tally);
  return object;
}

Json json_of(const Timing& timing) {
  return {{"count", timing.count},
          {"total_ms", rounded_ms(timing.total_ms)},
          {"mean_ms", rounded_ms(timing.mean_ms())},
          {"p50_ms", rounded_ms(timing.quantile_ms(0.5))},
          {"p95_ms", rounded_ms(timing.quantile_ms(0.95))},
          {"max_ms", rounded_ms(timing.max_ms)}};
}

// A label's value: UTF-8, with what the format gives a meaning escaped. What is no text is shown as
// printable() shows it.
std::string label_value(const std::string& text) {
  std::string escaped;
  for (const char c : is_plain_text(text) ? text : printable(text)) {
    if (c == '\\' || c == '"') escaped += '\\';
    if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void head(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void tallies(std::string& text, const Stats& stats, std::string_view name, std::string_view type,
             std::string_view help, const std::function<std::string(const Tally&)>& value) {
  head(text, name, type, help);
  for (const auto& [label, results] : stats.results_by_label) {
    for (const auto& [result, tally] : results) {
      text += fmt::format("{}{{result=\"{}\",label=\"{}\"}} {}\n", name, label_value(result),
                          label_value(label), value(tally));
    }
  }
}

// The bounds of the histogram, in microseconds: powers of four, which are bounds of the counters'
// buckets too, so that nothing is estimated.
constexpr std::array<double, 14> kBoundsUs = {64,       256,       1024,       4096,      16384,
                                              65536,    262144,    1048576,    4194304,   16777216,
                                              67108864, 268435456, 1073741824, 4294967296};

void phases(std::string& text, const Stats& stats) {
  constexpr std::string_view kName = "precast_phase_seconds";
  constexpr double kUsPerMs = 1000;
  constexpr double kUsPerSecond = 1e6;
  constexpr double kMsPerSecond = 1000;
  head(text, kName, "histogram", "How long the parts of requests took; total is a whole request.");
  for (const auto& [phase, timing] : stats.phases) {
    const std::string label = label_value(phase);
    for (const double bound : kBoundsUs) {
      std::uint64_t within = 0;
      for (const Timing::Bucket& bucket : timing.buckets) {
        if (bucket.up_to_ms * kUsPerMs <= bound * (1 + 1e-9)) within += bucket.count;
      }
      text += fmt::format("{}_bucket{{phase=\"{}\",le=\"{}\"}} {}\n", kName, label,
                          bound / kUsPerSecond, within);
    }
    text += fmt::format("{}_bucket{{phase=\"{}\",le=\"+Inf\"}} {}\n", kName, label, timing.count);
    text +=
        fmt::format("{}_sum{{phase=\"{}\"}} {}\n", kName, label, timing.total_ms / kMsPerSecond);
    text += fmt::format("{}_count{{phase=\"{}\"}} {}\n", kName, label, timing.count);
  }
}

}  // namespace

std::string duration_text(double ms) {
  constexpr std::array<std::pair<double, std::string_view>, 4> kUnits = {
      {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "min"}, {1000, "s"}}};
  for (const auto& [size, unit] : kUnits) {
    if (ms >= size) return fmt::format("{} {}", ms_text(ms / size), unit);
  }
  return ms_text(ms) + " ms";
}

Result<std::int64_t> parse_since(const std::string& text, std::int64_t now_unix_s) {
  for (const char* format : {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"}) {
    std::tm parts{};
    const char* end = ::strptime(text.c_str(), format, &parts);
    if (end != nullptr && (*end == '\0' || std::string_view(end) == "Z")) return ::timegm(&parts);
  }
  const auto age = parse_age(text);
  if (age) return now_unix_s - *age;
  return Error(ErrorCode::invalid_argument,
               "'" + text +
                   "' is no time: write an age (90min, 2h, 3d, 2w) or a date of UTC "
                   "(2026-11-30, 2026-11-30T08:00)");
}

Json json_of(const Stats& stats) {
  const Tally sum = stats.sum();
  Json object = {{"schema", "precast.stats/1"},  {"requests", sum.count},
                 {"hit_rate", stats.hit_rate()}, {"saved_ms", rounded_ms(sum.saved_ms)},
                 {"bytes_read", sum.bytes_read}, {"bytes_written", sum.bytes_written}};
  object["from"] = stats.results.empty() ? Json() : Json(iso_text(stats.from_unix_s));
  object["until"] = stats.results.empty() ? Json() : Json(iso_text(stats.until_unix_s));
  object["results"] = json_of(stats.results);
  object["labels"] = Json::object();
  for (const auto& [label, results] : stats.results_by_label) {
    object["labels"][label] = {{"hit_rate", Stats::hit_rate_of(results)},
                               {"results", json_of(results)}};
  }
  object["phases"] = Json::object();
  for (const auto& [name, timing] : stats.phases) object["phases"][name] = json_of(timing);
  object["files"] = stats.files;
  object["damaged_files"] = stats.damaged;
  object["newer_files"] = stats.newer;
  object["moved_to"] = nullptr;  // of --reset
  return object;
}

std::string prometheus_text(const Stats& stats) {
  std::string text;
  tallies(text, stats, "precast_requests_total", "counter", "Requests, by how they ended.",
          [](const Tally& tally) { return std::to_string(tally.count); });
  tallies(text, stats, "precast_read_bytes_total", "counter", "Bytes of artifacts that were read.",
          [](const Tally& tally) { return std::to_string(tally.bytes_read); });
  tallies(text, stats, "precast_written_bytes_total", "counter",
          "Bytes of artifacts that were published.",
          [](const Tally& tally) { return std::to_string(tally.bytes_written); });
  tallies(text, stats, "precast_saved_seconds", "gauge",
          "Compile time of what was loaded, less the time of loading.",
          [](const Tally& tally) { return fmt::format("{}", tally.saved_ms / 1000); });
  phases(text, stats);
  head(text, "precast_stats_files", "gauge", "Files of counters that were read.");
  text += fmt::format("precast_stats_files {}\n", stats.files);
  head(text, "precast_stats_damaged_files", "gauge", "Files of counters that cannot be used.");
  text += fmt::format("precast_stats_damaged_files {}\n", stats.damaged);
  return text;
}

}  // namespace precast::cli
