#include "program/outline_builder.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/little_endian.h"

namespace precast::program {
namespace {

// Generous bounds of what encode() writes, so that what fits by them fits.
constexpr std::size_t kFrameBytes = 32;
constexpr std::size_t kOpBytes = 10;
// Their numbers have two bytes.
constexpr std::size_t kMaxNames = 1 << 16;

std::uint64_t digest_of(const OutlineFunction& function, const std::vector<std::string>& op_names) {
  base::Sha256 hash;
  hash.update_u64(function.ops.size());
  for (const OutlineOp& op : function.ops) {
    hash.update_framed(op_names[op.name]);
    hash.update_u64(op.attributes);
    hash.update_u64(op.types);
    hash.update_u64(op.operands);
  }
  return base::read_little_endian<std::uint64_t>(hash.finish().view(), 0);
}

}  // namespace

std::size_t OutlineBuilder::add_function() {
  outline_.functions.emplace_back();
  return outline_.functions.size() - 1;
}

void OutlineBuilder::name_function(std::size_t function, std::string name) {
  outline_.functions[function].name = std::move(name);
}

std::size_t OutlineBuilder::add_op(std::size_t function, BytesView op_name) {
  auto at = names_.find(op_name);
  if (at == names_.end()) {
    at = names_.emplace(op_name, static_cast<std::uint16_t>(outline_.op_names.size())).first;
    outline_.op_names.emplace_back(op_name);
  }
  std::vector<OutlineOp>& ops = outline_.functions[function].ops;
  ops.push_back({.name = at->second});
  return ops.size() - 1;
}

Outline OutlineBuilder::finish(std::size_t max_bytes) {
  std::size_t room = max_bytes - std::min(max_bytes, kFrameBytes);
  const auto take = [&room](std::size_t bytes) {
    const bool fits = bytes <= room;
    if (fits) room -= bytes;
    return fits;
  };
  bool names_fit = outline_.op_names.size() <= kMaxNames;
  for (const std::string& name : outline_.op_names) {
    names_fit = names_fit && take(name.size() + kFrameBytes);
  }
  std::size_t kept = 0;
  for (OutlineFunction& function : outline_.functions) {
    function.op_count = function.ops.size();
    function.digest = digest_of(function, outline_.op_names);
    if (take(function.name.size() + kFrameBytes)) ++kept;
  }
  outline_.left_out_functions = outline_.functions.size() - kept;
  outline_.functions.resize(kept);
  for (OutlineFunction& function : outline_.functions) {
    const std::size_t fit = names_fit ? std::min(function.ops.size(), room / kOpBytes) : 0;
    room -= fit * kOpBytes;
    function.ops.resize(fit);
  }
  if (!names_fit) outline_.op_names.clear();
  return std::move(outline_);
}

Outline no_outline(std::string because) {
  Outline outline;
  outline.none_because = std::move(because);
  return outline;
}

}  // namespace precast::program
