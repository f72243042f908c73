// CPU features in LLVM's notation: "+avx2,-avx512f,+prefer-no-gather".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace precast::topology {

// Names that steer the choice of instructions and add none: code with them runs on every CPU.
bool is_tuning_hint(std::string_view feature);

// The instruction-set features of a list, each with its sign, sorted by name, tuning hints dropped.
// A name without a sign counts as '+'; of one name the last counts, as in LLVM.
std::vector<std::string> isa_features(std::string_view list);

// What `required` switches on and `host` has not, by name without sign, sorted. Code that was made
// for `required` may meet an instruction that the host lacks when this is not empty.
std::vector<std::string> missing_features(std::string_view required, std::string_view host);

// A level of a CPU architecture that many CPUs keep, as the x86-64 psABI defines them.
struct Baseline {
  std::string_view name;      // "x86-64-v3": LLVM's name, too
  std::string_view features;  // all of its features, in LLVM's notation
};

// The version of the table. In the key: a change of a level raises it.
inline constexpr int kBaselinesVersion = 1;

// Null for a name that is none of the table: x86-64-v2, x86-64-v3, x86-64-v4.
const Baseline* find_baseline(std::string_view name);

// What `features` switches on beyond the level, by name without sign, sorted. Code that was made
// for them may not run on every CPU of the level when this is not empty.
std::vector<std::string> beyond_baseline(const Baseline& baseline, std::string_view features);

// The first part of a triple ("x86_64").
std::string_view architecture_of(std::string_view triple);

}  // namespace precast::topology
