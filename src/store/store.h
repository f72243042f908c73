// Store: where artifacts live.
//
//   PRECAST_ASSIGN(std::optional<Bytes> found, store.get(key.hex()));
//   if (!found) PRECAST_TRY(store.put(key.hex(), bytes));
//
// A store moves bytes by name. It knows neither keys nor artifacts: what it returns is hostile
// until VerifiedArtifact::decode() says otherwise. Implementations are thread-safe, and other
// processes may use the same store at the same time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "precast/bytes.h"
#include "precast/result.h"

namespace precast::store {

// A name is exactly this many lower-case hexadecimal digits: nothing in it can mean a path, an
// option or another name to any kind of store.
inline constexpr std::size_t kNameDigits = 64;

bool is_name(std::string_view name);
// invalid_argument unless is_name().
Result<void> check_name(std::string_view name);

class Store {
 public:
  virtual ~Store() = default;

  // The whole value of an entry, or nothing when there is no such entry. A value that is being
  // replaced is the old or the new one, never a mixture. Blocks. Errors: invalid_argument for a bad
  // name; corrupt for an entry beyond limits::kMaxArtifactBytes; what the place of the entry does
  // not allow (permission_denied) or how it fails (io_error, resource_exhausted, unavailable,
  // deadline_exceeded).
  virtual Result<std::optional<Bytes>> get(std::string_view name) = 0;

  // Makes `bytes` the entry's value: visible to everybody as a whole, or not at all. On an error
  // the entry has its old value (or is absent), except that an error of the very last step, making
  // the new value durable, leaves the new value in place. Blocks until it is durable. Errors as
  // get(); invalid_argument also for more than limits::kMaxArtifactBytes.
  virtual Result<void> put(std::string_view name, BytesView bytes) = 0;

  // Where an entry of this name is or would be, as text for people; empty for a bad name.
  virtual std::string locate(std::string_view name) const = 0;
};

}  // namespace precast::store
