// Where two outlines differ.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "precast/outline.h"

namespace precast {
namespace {

// Operations of two functions are aligned when no more pairs than this must be looked at; beyond,
// they are compared by position.
constexpr std::size_t kMaxAlignedPairs = std::size_t{4} << 20;

class Differ {
 public:
  Differ(const Outline& left, const Outline& right, std::size_t most)
      : left_(left), right_(right), most_(most) {}

  std::vector<OutlineDifference> run() {
    pair_functions();
    for (const auto& [l, r] : pairs_) {
      if (full()) break;
      if (l && r) {
        functions(left_.functions[*l], right_.functions[*r]);
      } else {
        lonely(l ? left_.functions[*l] : right_.functions[*r], l.has_value());
      }
    }
    return std::move(found_);
  }

 private:
  using Pair = std::pair<std::optional<std::size_t>, std::optional<std::size_t>>;

  bool full() const { return found_.size() >= most_; }
  void add(OutlineDifference difference) {
    if (!full()) found_.push_back(std::move(difference));
  }

  // By name and content, then by name in order, then by content; what is left stands alone.
  void pair_functions() {
    std::vector<bool> taken(right_.functions.size(), false);
    std::vector<std::optional<std::size_t>> partner(left_.functions.size());
    const auto match = [&](auto equal) {
      for (std::size_t l = 0; l < partner.size(); ++l) {
        if (partner[l]) continue;
        for (const std::size_t r : candidates(left_.functions[l])) {
          if (taken[r] || !equal(left_.functions[l], right_.functions[r])) continue;
          partner[l] = r;
          taken[r] = true;
          break;
        }
      }
    };
    using F = OutlineFunction;
    by_name_ = index(&F::name);
    by_digest_ = index(&F::digest);
    match([](const F& a, const F& b) { return a.name == b.name && a.digest == b.digest; });
    match([](const F& a, const F& b) { return a.name == b.name; });
    match([](const F& a, const F& b) { return a.digest == b.digest; });
    for (std::size_t l = 0; l < partner.size(); ++l) pairs_.emplace_back(l, partner[l]);
    for (std::size_t r = 0; r < taken.size(); ++r) {
      if (!taken[r]) pairs_.emplace_back(std::nullopt, r);
    }
  }

  template <typename T>
  std::map<T, std::vector<std::size_t>> index(T OutlineFunction::* member) const {
    std::map<T, std::vector<std::size_t>> found;
    for (std::size_t r = 0; r < right_.functions.size(); ++r) {
      found[right_.functions[r].*member].push_back(r);
    }
    return found;
  }

  std::vector<std::size_t> candidates(const OutlineFunction& function) const {
    std::vector<std::size_t> found;
    if (const auto at = by_name_.find(function.name); at != by_name_.end()) found = at->second;
    if (const auto at = by_digest_.find(function.digest); at != by_digest_.end()) {
      found.insert(found.end(), at->second.begin(), at->second.end());
    }
    return found;
  }

  void lonely(const OutlineFunction& function, bool on_left) {
    const std::string there = fmt::format("{} operations", function.op_count);
    add({.function = function.name,
         .left_op = std::nullopt,
         .right_op = std::nullopt,
         .op = "",
         .part = "function",
         .left = on_left ? there : "absent",
         .right = on_left ? "absent" : there});
  }

  void functions(const OutlineFunction& left, const OutlineFunction& right) {
    if (left.name != right.name) {
      add({left.name, std::nullopt, std::nullopt, "", "function", "named '" + left.name + "'",
           "named '" + right.name + "'"});
    }
    if (left.digest == right.digest && left.op_count == right.op_count) return;
    const std::size_t before = found_.size();
    operations(left, right);
    if (found_.size() != before || full()) return;
    operands(left, right);
    if (found_.size() != before) return;
    add({left.name, std::nullopt, std::nullopt, "", "function",
         fmt::format("{} operations, of which {} are outlined", left.op_count, left.ops.size()),
         fmt::format("{} operations, of which {} are outlined", right.op_count, right.ops.size())});
  }

  std::string name_of(const Outline& outline, const OutlineOp& op) const {
    return outline.op_names[op.name];
  }
  bool same_name(const OutlineOp& l, const OutlineOp& r) const {
    return left_.op_names[l.name] == right_.op_names[r.name];
  }
  bool same(const OutlineOp& l, const OutlineOp& r) const {
    return l.attributes == r.attributes && l.types == r.types && same_name(l, r);
  }

  // Finds what was put in, taken out and changed between the operations that both sides share.
  void operations(const OutlineFunction& left, const OutlineFunction& right) {
    const std::vector<OutlineOp>& l = left.ops;
    const std::vector<OutlineOp>& r = right.ops;
    std::size_t head = 0;
    while (head < l.size() && head < r.size() && same(l[head], r[head])) ++head;
    std::size_t tail = 0;
    while (tail < l.size() - head && tail < r.size() - head &&
           same(l[l.size() - 1 - tail], r[r.size() - 1 - tail])) {
      ++tail;
    }
    // The end of a function that was cut is not its end.
    if (left.op_count != l.size() || right.op_count != r.size()) tail = 0;
    const std::size_t l_end = l.size() - tail;
    const std::size_t r_end = r.size() - tail;
    std::size_t l_at = head;
    std::size_t r_at = head;
    for (const auto& [l_same, r_same] : common(l, r, head, l_end, r_end)) {
      gap(left, right, l_at, l_same, r_at, r_same);
      l_at = l_same + 1;
      r_at = r_same + 1;
    }
    gap(left, right, l_at, l_end, r_at, r_end);
  }

  // A longest common subsequence of l[head..l_end) and r[head..r_end).
  std::vector<std::pair<std::size_t, std::size_t>> common(const std::vector<OutlineOp>& l,
                                                          const std::vector<OutlineOp>& r,
                                                          std::size_t head, std::size_t l_end,
                                                          std::size_t r_end) const {
    const std::size_t n = l_end - head;
    const std::size_t m = r_end - head;
    if (n == 0 || m == 0 || n > kMaxAlignedPairs / m) return {};
    // lengths[i * (m + 1) + j]: of what is common to l[head + i..) and r[head + j..).
    std::vector<std::uint32_t> lengths((n + 1) * (m + 1), 0);
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = m; j-- > 0;) {
        const std::size_t at = i * (m + 1) + j;
        lengths[at] = same(l[head + i], r[head + j])
                          ? lengths[at + m + 2] + 1
                          : std::max(lengths[at + m + 1], lengths[at + 1]);
      }
    }
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t i = 0, j = 0; i < n && j < m;) {
      const std::size_t at = i * (m + 1) + j;
      if (same(l[head + i], r[head + j])) {
        pairs.emplace_back(head + i++, head + j++);
      } else if (lengths[at + m + 1] >= lengths[at + 1]) {
        ++i;
      } else {
        ++j;
      }
    }
    return pairs;
  }

  // What stands between two shared operations: pairs of one name have changed, the others are new
  // or gone.
  void gap(const OutlineFunction& left, const OutlineFunction& right, std::size_t l_at,
           std::size_t l_end, std::size_t r_at, std::size_t r_end) {
    while ((l_at < l_end || r_at < r_end) && !full()) {
      if (l_at < l_end && r_at < r_end &&
          (same_name(left.ops[l_at], right.ops[r_at]) || l_end - l_at == r_end - r_at)) {
        changed(left, l_at++, right, r_at++);
      } else if (l_at < l_end && (r_at >= r_end || l_end - l_at > r_end - r_at)) {
        const std::string name = name_of(left_, left.ops[l_at]);
        add({left.name, l_at++, std::nullopt, name, "operation", name, "absent"});
      } else {
        const std::string name = name_of(right_, right.ops[r_at]);
        add({right.name, std::nullopt, r_at++, name, "operation", "absent", name});
      }
    }
  }

  void changed(const OutlineFunction& left, std::size_t l_at, const OutlineFunction& right,
               std::size_t r_at) {
    const OutlineOp& l = left.ops[l_at];
    const OutlineOp& r = right.ops[r_at];
    const std::string name = name_of(left_, l);
    if (!same_name(l, r)) {
      add({left.name, l_at, r_at, name, "operation", name, name_of(right_, r)});
      return;
    }
    const auto part = [&](const char* what, std::uint32_t a, std::uint32_t b) {
      if (a == b) return;
      add({left.name, l_at, r_at, name, what, fmt::format("digest {:08x}", a),
           fmt::format("digest {:08x}", b)});
    };
    part("attributes", l.attributes, r.attributes);
    part("types", l.types, r.types);
  }

  // The operations are the same; what differs is which values they take.
  void operands(const OutlineFunction& left, const OutlineFunction& right) {
    const std::size_t count = std::min(left.ops.size(), right.ops.size());
    for (std::size_t i = 0; i < count && !full(); ++i) {
      const OutlineOp& l = left.ops[i];
      const OutlineOp& r = right.ops[i];
      if (l.operands == r.operands) continue;
      add({left.name, i, i, name_of(left_, l), "operands", fmt::format("digest {:08x}", l.operands),
           fmt::format("digest {:08x}", r.operands)});
    }
  }

  const Outline& left_;
  const Outline& right_;
  const std::size_t most_;
  std::map<std::string, std::vector<std::size_t>> by_name_;
  std::map<std::uint64_t, std::vector<std::size_t>> by_digest_;
  std::vector<Pair> pairs_;
  std::vector<OutlineDifference> found_;
};

}  // namespace

std::vector<OutlineDifference> diff(const Outline& left, const Outline& right, std::size_t most) {
  return Differ(left, right, most).run();
}

std::string to_string(const OutlineDifference& d) {
  const std::string place = d.function.empty() ? "the module" : "function '" + d.function + "'";
  if (d.part == "function") return fmt::format("{}: {} / {}", place, d.left, d.right);
  const auto position = [](const std::optional<std::uint64_t>& op) {
    return op ? std::to_string(*op) : std::string("-");
  };
  std::string numbers = position(d.left_op);
  if (d.left_op != d.right_op) numbers += "/" + position(d.right_op);
  if (d.part == "operation") {
    return fmt::format("{}, operation {}: {} / {}", place, numbers, d.left, d.right);
  }
  return fmt::format("{}, operation {} ({}): its {} differ", place, numbers, d.op, d.part);
}

}  // namespace precast
