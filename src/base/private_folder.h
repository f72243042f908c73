// Small files that Precast keeps for itself, per user: in a folder that only the user may write.
//
// They are a convenience: whatever is wrong with the folder or with a file reads as "not there",
// and what cannot be written is not kept. One that hangs is as if it were not there (guard.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "precast/bytes.h"

namespace precast::base {

class PrivateFolder {
 public:
  // An empty path is nowhere: nothing is ever kept.
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}

  // $XDG_STATE_HOME/precast/<name>, else ~/.local/state/precast/<name>, else nowhere. Paths that
  // are not absolute do not count.
  static PrivateFolder of_user(std::string_view name);

  // Nothing unless the folder and the file are the user's own, nobody else may write them, and the
  // file has at most `max_bytes`.
  std::optional<Bytes> read(const std::string& file, std::uint64_t max_bytes) const;
  // Replaces the file as a whole; makes the folder, with those above it, where it is not there.
  void write(const std::string& file, BytesView bytes) const;

 private:
  std::string path_;
};

}  // namespace precast::base
