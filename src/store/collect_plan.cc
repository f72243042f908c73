#include "store/collect_plan.h"

#include <algorithm>
#include <tuple>

#include "base/hash.h"

namespace precast::store {
namespace {

unsigned char digit(char c) {
  return static_cast<unsigned char>(c <= '9' ? c - '0' : c - 'a' + 10);
}

class Plan {
 public:
  Plan(const std::vector<Candidate>& candidates, const CollectRules& rules, std::int64_t now)
      : candidates_(candidates), rules_(rules), now_(now), gone_(candidates.size(), false) {
    for (const Candidate& one : candidates) left_ += one.bytes;
  }

  std::vector<Removal> make() {
    by_time();
    if (rules_.max_bytes) by_size();
    return std::move(removals_);
  }

 private:
  bool in_grace(const Candidate& one) const { return now_ - one.used_unix_s < rules_.grace_s; }

  void remove(std::uint32_t index, Why why) {
    removals_.push_back({index, why});
    gone_[index] = true;
    left_ -= candidates_[index].bytes;
  }

  void by_time() {
    for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& one = candidates_[i];
      if (one.pinned || in_grace(one)) continue;
      if (rules_.older_than_s && now_ - one.published_unix_s > *rules_.older_than_s) {
        remove(i, Why::age);
      } else if (rules_.unused_for_s && now_ - one.used_unix_s > *rules_.unused_for_s) {
        remove(i, Why::unused);
      }
    }
  }

  void by_size() {
    if (left_ <= std::max(*rules_.max_bytes, rules_.only_beyond_bytes)) return;
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
      if (!gone_[i] && !candidates_[i].pinned) order.push_back(i);
    }
    // Of two used at the same time the larger goes: fewer compiles are lost.
    const auto key = [this](std::uint32_t i) {
      const Candidate& one = candidates_[i];
      return std::tuple(one.used_unix_s, ~one.bytes, one.digest);
    };
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (const std::uint32_t i : order) {
      if (left_ <= *rules_.max_bytes) return;
      if (!in_grace(candidates_[i])) remove(i, Why::size);
    }
    if (!rules_.hard_bytes) return;
    for (const std::uint32_t i : order) {
      if (left_ <= *rules_.hard_bytes) return;
      if (!gone_[i]) remove(i, Why::size);
    }
  }

  const std::vector<Candidate>& candidates_;
  const CollectRules& rules_;
  const std::int64_t now_;
  std::vector<bool> gone_;
  std::uint64_t left_ = 0;
  std::vector<Removal> removals_;
};

}  // namespace

std::string Candidate::name() const {
  return base::to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::array<unsigned char, 32> Candidate::digest_of(std::string_view name) {
  std::array<unsigned char, 32> digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<unsigned char>(digit(name[2 * i]) << 4 | digit(name[2 * i + 1]));
  }
  return digest;
}

std::string_view to_string(Why why) {
  switch (why) {
    case Why::age: return "age";
    case Why::unused: return "unused";
    case Why::size: return "size";
  }
  return "unknown";
}

std::vector<Removal> plan_collection(const std::vector<Candidate>& candidates,
                                     const CollectRules& rules, std::int64_t now_unix_s) {
  return Plan(candidates, rules, now_unix_s).make();
}

}  // namespace precast::store
