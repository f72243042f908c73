// precast stats: what all processes of this machine counted.
#include "precast/stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/amounts.h"
#include "cli/stats_text.h"
#include "cli/text.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace precast::cli {
namespace {

struct Arguments {
  std::string since;
  std::string by;
  bool prometheus = false;
  bool reset = false;
};

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

std::string utc_text(std::int64_t unix_s) {
  const std::time_t time = unix_s;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

// The hour that is going on ends in the future.
std::string until_text(std::int64_t unix_s) {
  return unix_s > std::time(nullptr) ? "now" : utc_text(unix_s);
}

std::string bytes_or_nothing(std::uint64_t bytes) { return bytes == 0 ? "" : bytes_text(bytes); }

std::string saved_text(double ms) {
  if (ms == 0) return "";
  return (ms < 0 ? "-" : "") + duration_text(std::abs(ms));
}

Table results_table(const Stats& stats) {
  Table table({{"RESULT"},
               {"COUNT", true},
               {"SHARE", true},
               {"TIME SAVED", true},
               {"READ", true},
               {"WRITTEN", true}});
  const auto all = static_cast<double>(std::max<std::uint64_t>(stats.sum().count, 1));
  std::vector<std::pair<std::string, Tally>> rows(stats.results.begin(), stats.results.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  for (const auto& [name, tally] : rows) {
    table.add({printable(name), std::to_string(tally.count),
               percent(static_cast<double>(tally.count) / all), saved_text(tally.saved_ms),
               bytes_or_nothing(tally.bytes_read), bytes_or_nothing(tally.bytes_written)});
  }
  return table;
}

Table labels_table(const Stats& stats) {
  Table table({{"LABEL", false, true},
               {"REQUESTS", true},
               {"HIT RATE", true},
               {"TIME SAVED", true},
               {"READ", true},
               {"WRITTEN", true}});
  for (const auto& [label, results] : stats.results_by_label) {
    Stats one;
    one.results = results;
    const Tally sum = one.sum();
    table.add({label.empty() ? "(none)" : printable(label), std::to_string(sum.count),
               percent(one.hit_rate()), saved_text(sum.saved_ms), bytes_or_nothing(sum.bytes_read),
               bytes_or_nothing(sum.bytes_written)});
  }
  return table;
}

// In the order in which they happen, the whole last.
std::vector<std::string> in_order(const std::map<std::string, Timing>& phases) {
  constexpr std::array<std::string_view, 15> kOrder = {
      "key",       "lookup", "verify", "trial_load", "load", "lease",  "wait", "compile",
      "serialize", "encode", "prove",  "publish",    "gc",   "record", "total"};
  std::vector<std::string> names;
  for (const auto& [name, timing] : phases) names.push_back(name);
  const auto place = [&kOrder](const std::string& name) {
    const auto found = std::find(kOrder.begin(), kOrder.end(), name);
    return found == kOrder.end() ? kOrder.end() - 1 : found;
  };
  std::stable_sort(names.begin(), names.end(), [&place](const auto& a, const auto& b) {
    if (place(a) != place(b)) return place(a) < place(b);
    return a != "total" && b == "total";
  });
  return names;
}

Table phases_table(const Stats& stats) {
  Table table({{"PHASE"},
               {"COUNT", true},
               {"TOTAL", true},
               {"MEAN", true},
               {"P50", true},
               {"P95", true},
               {"MAX", true}});
  for (const std::string& name : in_order(stats.phases)) {
    const Timing& timing = stats.phases.at(name);
    table.add({printable(name), std::to_string(timing.count), duration_text(timing.total_ms),
               duration_text(timing.mean_ms()), duration_text(timing.quantile_ms(0.5)),
               duration_text(timing.quantile_ms(0.95)), duration_text(timing.max_ms)});
  }
  return table;
}

void print_remarks(const Stats& stats, Output& out) {
  if (stats.damaged > 0) {
    out.warning(counted(stats.damaged, "file") + " of counters cannot be read, and is not counted");
  }
  if (stats.newer > 0) {
    out.warning(counted(stats.newer, "file") +
                " of counters is of a later version of precast, and is not counted");
  }
}

void print(const Stats& stats, const Arguments& arguments, Output& out) {
  print_remarks(stats, out);
  if (stats.results.empty()) {
    out.print(arguments.since.empty() ? "nothing was counted yet\n"
                                      : "nothing was counted in this time\n");
    return;
  }
  const Tally sum = stats.sum();
  out.print(fmt::format("{} from {} to {}\nhit rate {}, {} saved\n\n",
                        counted(sum.count, "request"), utc_text(stats.from_unix_s),
                        until_text(stats.until_unix_s), percent(stats.hit_rate()),
                        sum.saved_ms == 0 ? "no time" : saved_text(sum.saved_ms)));
  out.print(arguments.by.empty() ? results_table(stats) : labels_table(stats));
  if (!arguments.by.empty()) return;
  out.print("\n");
  out.print(phases_table(stats));
}

Result<ExitCode> reset(Output& out) {
  PRECAST_ASSIGN(const std::string aside, reset_stats(""));
  Json object = json_of(Stats());
  object["moved_to"] = aside.empty() ? Json() : Json(aside);
  out.object(object);
  out.print(aside.empty()
                ? "nothing was counted yet\n"
                : "counting starts again; the old counters are in '" + printable(aside) + "'\n");
  return ExitCode::done;
}

Result<ExitCode> stats(const Arguments& arguments, Output& out) {
  if (arguments.prometheus && out.json()) {
    return out.usage("--prometheus and --json are two ways to print; choose one");
  }
  if (arguments.reset) return reset(out);
  StatsQuery query;
  if (!arguments.since.empty()) {
    PRECAST_ASSIGN(query.since_unix_s, parse_since(arguments.since, std::time(nullptr)));
  }
  PRECAST_ASSIGN(const Stats read, read_stats(query));
  if (arguments.prometheus) {
    out.answer(prometheus_text(read));
    return ExitCode::done;
  }
  out.object(json_of(read));
  print(read, arguments, out);
  return ExitCode::done;
}

}  // namespace

Verb add_stats(CLI::App& root) {
  VerbOptions options(root, "stats", "what was counted: hits, misses, reasons, times",
                      "precast stats --since 7d\n"
                      "precast stats --prometheus > /var/lib/node_exporter/precast.prom");
  auto arguments = std::make_shared<Arguments>();
  options.add(arguments->since,
              {.names = "--since",
               .help = "count from then on: 90min, 2h, 3d, 2026-11-30, 2026-11-30T08:00",
               .value = "TIME",
               .check = [](const std::string& text) {
                 const auto parsed = parse_since(text, 0);
                 return parsed ? std::string() : parsed.error().message();
               }});
  options.add_choice(arguments->by, {"label"}, {.names = "--by", .help = "a row for each label"});
  options.add(arguments->prometheus,
              {.names = "--prometheus", .help = "print the text that Prometheus reads"});
  options.add(arguments->reset, {.names = "--reset",
                                 .help = "move the counters aside, and start"
                                         " again from zero"});
  // What Prometheus calls a counter never goes back.
  options.exclude("--prometheus", "--since");
  options.exclude("--prometheus", "--by");
  for (const char* other : {"--prometheus", "--since", "--by"}) options.exclude("--reset", other);
  return {options.app(), [arguments](Output& out) { return stats(*arguments, out); }};
}

}  // namespace precast::cli
