// Which entries a collection removes: a pure function of what there is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace precast::store {

// An entry, small: a store may have a hundred thousand of them.
struct Candidate {
  std::array<unsigned char, 32> digest{};  // its name in binary
  std::uint64_t bytes = 0;
  std::int64_t published_unix_s = 0;
  std::int64_t used_unix_s = 0;  // the later of the last use and the publishing
  bool pinned = false;

  std::string name() const;
  // `name` is one of store.h.
  static std::array<unsigned char, 32> digest_of(std::string_view name);
};

struct CollectRules {
  // Down to this many bytes, those first that were not used for longest; if there are more than
  // `only_beyond_bytes`.
  std::optional<std::uint64_t> max_bytes = std::nullopt;
  std::uint64_t only_beyond_bytes = 0;
  // What was published, or last used, longer ago goes.
  std::optional<std::int64_t> older_than_s = std::nullopt;
  std::optional<std::int64_t> unused_for_s = std::nullopt;
  // What was published or used so recently stays, unless there is more than `hard_bytes`.
  std::int64_t grace_s = 0;
  std::optional<std::uint64_t> hard_bytes = std::nullopt;
};

// Printed and counted: append only.
enum class Why : std::uint8_t { age = 1, unused = 2, size = 3 };
std::string_view to_string(Why why);

struct Removal {
  std::uint32_t index;  // of the candidate
  Why why;
};

// Pinned entries never go. In the order of removal within one rule; no candidate twice.
std::vector<Removal> plan_collection(const std::vector<Candidate>& candidates,
                                     const CollectRules& rules, std::int64_t now_unix_s);

}  // namespace precast::store
