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

// The first part of a triple ("x86_64").
std::string_view architecture_of(std::string_view triple);

}  // namespace precast::topology
