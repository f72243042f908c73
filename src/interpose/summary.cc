#include "interpose/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace precast::interpose {

void Summary::count(Outcome outcome, Reason reason, double spent_ms, double compile_ms) {
  const std::lock_guard lock(mutex_);
  ++outcomes_[outcome];
  const bool says_more = outcome == Outcome::skip || outcome == Outcome::bypass;
  if (says_more) ++reasons_[outcome][std::string(to_string(reason))];
  spent_ms_ += spent_ms;
  if (outcome == Outcome::hit) saved_ms_ += std::max(compile_ms - spent_ms, 0.0);
}

std::string Summary::text() const {
  struct Shown {
    Outcome outcome;
    std::string_view name;
  };
  constexpr std::array<Shown, 5> kShown = {{{Outcome::hit, "hits"},
                                            {Outcome::miss, "misses"},
                                            {Outcome::skip, "skips"},
                                            {Outcome::bypass, "bypasses"},
                                            {Outcome::error, "errors"}}};
  const std::lock_guard lock(mutex_);
  std::string text = "summary:";
  for (const auto& [outcome, name] : kShown) {
    const auto counted = outcomes_.find(outcome);
    text += fmt::format(" {}={}", name, counted == outcomes_.end() ? 0 : counted->second);
    const auto why = reasons_.find(outcome);
    if (why == reasons_.end()) continue;
    std::string list;
    for (const auto& [reason, count] : why->second) {
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", reason, count);
    }
    text += fmt::format(" ({})", list);
  }
  return text + fmt::format(" spent_ms={:.0f} saved_ms={:.0f}", spent_ms_, saved_ms_);
}

}  // namespace precast::interpose
