#include "topology/cpu_features.h"

#include <algorithm>
#include <array>

namespace precast::topology {
namespace {

// LLVM lists both kinds in one text and marks neither. A hint that is missing here counts as a
// feature: a false miss, never a false hit.
constexpr std::array<std::string_view, 5> kHintPrefixes = {"prefer-", "fast-", "slow-", "tuning-",
                                                           "false-deps-"};
constexpr std::array<std::string_view, 5> kHints = {
    "allow-light-256-bit", "branchfusion", "idivl-to-divb", "idivq-to-divl", "macrofusion"};

// The levels of the psABI with the names that LLVM has for their features. Each holds the one
// before.
#define PRECAST_V2                                                                            \
  "+64bit,+cmov,+crc32,+cx16,+cx8,+fxsr,+mmx,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2," \
  "+ssse3"
#define PRECAST_V3 PRECAST_V2 ",+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
#define PRECAST_V4 PRECAST_V3 ",+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl"
constexpr std::array<Baseline, 3> kBaselines = {
    {{"x86-64-v2", PRECAST_V2}, {"x86-64-v3", PRECAST_V3}, {"x86-64-v4", PRECAST_V4}}};
#undef PRECAST_V2
#undef PRECAST_V3
#undef PRECAST_V4

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

struct Feature {
  std::string_view name;
  bool on = true;
};

// By name, each once (of one name the last counts), hints dropped.
std::vector<Feature> parse(std::string_view list) {
  std::vector<Feature> features;
  features.reserve(static_cast<std::size_t>(std::ranges::count(list, ',')) + 1);
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view name = trim(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    const bool on = !name.starts_with('-');
    if (name.starts_with('-') || name.starts_with('+')) name.remove_prefix(1);
    if (!name.empty() && !is_tuning_hint(name)) features.push_back({name, on});
  }
  std::ranges::stable_sort(features, {}, &Feature::name);
  // From the end, so that of equals the last stays.
  const auto same = [](const Feature& a, const Feature& b) { return a.name == b.name; };
  const auto first = std::unique(features.rbegin(), features.rend(), same).base();
  features.erase(features.begin(), first);
  return features;
}

}  // namespace

bool is_tuning_hint(std::string_view feature) {
  return std::ranges::find(kHints, feature) != kHints.end() ||
         std::ranges::any_of(kHintPrefixes,
                             [&](std::string_view prefix) { return feature.starts_with(prefix); });
}

std::vector<std::string> isa_features(std::string_view list) {
  const std::vector<Feature> parsed = parse(list);
  std::vector<std::string> features;
  features.reserve(parsed.size());
  for (const auto& [name, on] : parsed) {
    features.emplace_back(1, on ? '+' : '-').append(name);
  }
  return features;
}

std::vector<std::string> missing_features(std::string_view required, std::string_view host) {
  if (required == host) return {};  // as nearly always
  const std::vector<Feature> present = parse(host);
  std::vector<std::string> missing;
  for (const auto& [name, on] : parse(required)) {
    const auto found = std::ranges::lower_bound(present, name, {}, &Feature::name);
    const bool has = found != present.end() && found->name == name && found->on;
    if (on && !has) missing.emplace_back(name);
  }
  return missing;
}

const Baseline* find_baseline(std::string_view name) {
  const auto found = std::ranges::find(kBaselines, name, &Baseline::name);
  return found == kBaselines.end() ? nullptr : &*found;
}

std::vector<std::string> beyond_baseline(const Baseline& baseline, std::string_view features) {
  return missing_features(features, baseline.features);
}

std::string_view architecture_of(std::string_view triple) {
  return triple.substr(0, triple.find('-'));
}

}  // namespace precast::topology
