// Marks: what this host remembers about artifacts that it did not make.
//
//   <state>/marks/<key>
//
// A mark is about one artifact, by its root: another one under the same key is tried. It holds for
// kMarkDays, a refusal for kRefusalHours, and for this host only, also where several hosts share a
// state folder. Marks save work and crashes and prove nothing: what is damaged, old or cannot be
// written is as if it were not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/private_folder.h"
#include "precast/digest.h"

namespace precast::cache {

inline constexpr std::int64_t kMarkDays = 30;
// A refusal may come from this host's own state (a sick device), so it is tried again sooner.
inline constexpr std::int64_t kRefusalHours = 24;
// Of one state folder; the oldest go.
inline constexpr std::size_t kMaxMarks = 1024;
// Longer reasons are cut.
inline constexpr std::size_t kMaxMarkWhyBytes = 4096;

// Persisted: append only.
enum class MarkKind : std::uint8_t {
  load_refused = 1,      // the plugin gave an error
  trial_crashed = 2,     // loading it ended a child process, or did not end
  trial_passed = 3,      // a child process loaded it
  not_serializable = 4,  // there is no artifact: the plugin cannot serialize the program
};

struct Mark {
  Digest root;  // of the artifact; zeros when there is none
  MarkKind kind = MarkKind::load_refused;
  std::string why;          // text for people
  std::int64_t unix_s = 0;  // when it was put last
  std::uint64_t count = 0;  // how often

  bool operator==(const Mark&) const = default;
};

// Thread-safe, and other processes may use the same folder.
class Marks {
 public:
  // An empty state folder keeps nothing.
  explicit Marks(const std::string& state);

  // The mark of this key's artifact. Opens one file at most.
  std::optional<Mark> find(const std::string& key, const Digest& root) const;
  // Replaces whatever mark the key has.
  void put(const std::string& key, const Digest& root, MarkKind kind, const std::string& why) const;
  void forget(const std::string& key) const;

 private:
  std::optional<Mark> read(const std::string& key) const;

  std::string path_;
  base::PrivateFolder folder_;
};

}  // namespace precast::cache
