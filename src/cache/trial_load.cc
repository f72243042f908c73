#include "cache/trial_load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>
#include <variant>

#include "cache/child.h"

namespace precast::cache {
namespace {

// How the child's last line begins; src/cli/trial_load.cc writes them.
constexpr std::string_view kLoads = "precast: trial load: loads";
constexpr std::string_view kRefused = "precast: trial load: refused: ";
constexpr std::string_view kNotRun = "precast: trial load: not run: ";

constexpr std::size_t kMaxWords = 400;

// An option as `precast --client-option` takes it, with its type, so that text which looks like a
// number stays text.
std::string word_of(const NamedValue& option) {
  constexpr std::array<std::string_view, 5> kTypes = {"string", "int", "ints", "float", "bool"};
  static_assert(std::variant_size_v<NamedValue::Value> == kTypes.size());
  return fmt::format("{}:{}={}", option.name, kTypes[option.value.index()], option.value_text());
}

std::string one_line(std::string_view text) {
  std::string line(text.substr(0, kMaxWords));
  std::ranges::replace_if(
      line, [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  return line;
}

// The last lines that a process printed, without those of ours.
std::string last_words(std::string_view tail) {
  while (!tail.empty() && tail.back() == '\n') tail.remove_suffix(1);
  if (tail.size() > kMaxWords) tail.remove_prefix(tail.size() - kMaxWords);
  const std::string words = one_line(tail);
  return words.empty() ? std::string() : ": " + words;
}

std::string_view last_line(std::string_view tail) {
  if (!tail.ends_with('\n')) return {};
  tail.remove_suffix(1);
  return tail.substr(tail.rfind('\n') + 1);
}

}  // namespace

std::string_view to_string(TrialEnd::Kind kind) {
  switch (kind) {
    case TrialEnd::Kind::loads: return "loads";
    case TrialEnd::Kind::refused: return "refused";
    case TrialEnd::Kind::crashed: return "crashed";
    case TrialEnd::Kind::timed_out: return "timed_out";
    case TrialEnd::Kind::could_not_run: return "could_not_run";
  }
  return "unknown";
}

TrialEnd trial_load(const Trial& trial) {
  using Kind = TrialEnd::Kind;
  std::vector<std::string> words = {"trial-load",   "--plugin", trial.plugin,    "--artifact",
                                    trial.artifact, "--root",   trial.root.hex()};
  for (const NamedValue& option : trial.options) {
    words.emplace_back("--client-option");
    words.push_back(word_of(option));
  }
  if (!trial.device_ids.empty()) {
    words.emplace_back("--devices");
    words.push_back(fmt::format("{}", fmt::join(trial.device_ids, ",")));
  }
  const ChildEnd child = run_child(trial.command, words, trial.timeout_s);
  if (!child.started) return {Kind::could_not_run, child.how};
  // What it said counts, however it ended afterwards.
  const std::string_view said = last_line(child.tail);
  if (said == kLoads) return {Kind::loads, {}};
  if (said.starts_with(kRefused)) return {Kind::refused, one_line(said.substr(kRefused.size()))};
  if (said.starts_with(kNotRun))
    return {Kind::could_not_run, one_line(said.substr(kNotRun.size()))};
  if (!child.in_time) {
    return {Kind::timed_out,
            fmt::format("loading took longer than {} s in a process of its own", trial.timeout_s)};
  }
  // Out of memory, or somebody's wish.
  if (child.stopped) return {Kind::could_not_run, "the process was ended by " + child.how};
  if (child.crashed || child.how != "exit code 2") {
    return {Kind::crashed, fmt::format("loading ended a process of its own by {}{}", child.how,
                                       last_words(child.tail))};
  }
  return {Kind::could_not_run,
          "'" + trial.command + "' is no precast that can try artifacts" + last_words(child.tail)};
}

}  // namespace precast::cache
