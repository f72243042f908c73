// Store: where artifacts live.
//
//   PRECAST_ASSIGN(std::optional<Fetched> found, store.get(key.hex()));
//   if (!found) PRECAST_TRY(store.put(key.hex(), bytes));
//   else if (!sound(found->bytes)) PRECAST_TRY(store.quarantine(key.hex(), found->identity, why));
//
// A store moves bytes by name. It knows neither keys nor artifacts: what it returns is hostile
// until VerifiedArtifact::decode() says otherwise. Implementations are thread-safe, and other
// processes may use the same store at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "precast/bytes.h"
#include "precast/result.h"
#include "store/collect.h"

namespace precast::store {

// A name is exactly this many lower-case hexadecimal digits: nothing in it can mean a path, an
// option or another name to any kind of store.
inline constexpr std::size_t kNameDigits = 64;

bool is_name(std::string_view name);
// invalid_argument unless is_name().
Result<void> check_name(std::string_view name);

// What tells the file that was read from another that takes its name later.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;

  bool operator==(const FileIdentity&) const = default;
};

// What is in an entry's place.
struct Fetched {
  FileIdentity identity;
  std::int64_t used_unix_s = 0;  // when it was published or last used, as far as that is kept
  // The whole value; corrupt when what is there can be no entry: no regular file, beyond
  // limits::kMaxArtifactBytes, or a file that became shorter while it was read.
  Result<Bytes> bytes;
};

// How often the use of an entry is kept at most.
inline constexpr std::int64_t kUseStampSeconds = 3600;

class Store {
 public:
  virtual ~Store() = default;

  // What is in an entry's place, or nothing when there is no such entry. A value that is being
  // replaced is the old or the new one, never a mixture. Blocks. Errors: invalid_argument for a bad
  // name; what the place of the entry does not allow (permission_denied) or how it fails (io_error,
  // resource_exhausted, unavailable, deadline_exceeded).
  virtual Result<std::optional<Fetched>> get(std::string_view name) = 0;

  // Makes `bytes` the entry's value: visible to everybody as a whole, or not at all. On an error
  // the entry has its old value (or is absent), except that an error of the very last step, making
  // the new value durable, leaves the new value in place. Blocks until it is durable. Errors as
  // get(); invalid_argument also for more than limits::kMaxArtifactBytes.
  virtual Result<void> put(std::string_view name, BytesView bytes) = 0;

  // Takes away what get() found in the entry's place, and keeps it aside with `reason`, text for
  // people. Only if it is still what get() found; else false, and what is there stays. Blocks.
  // Errors: invalid_argument for a bad name; the others of get().
  virtual Result<bool> quarantine(std::string_view name, const FileIdentity& identity,
                                  const std::string& reason) = 0;

  // Tells the store that what get() found was of use, so that a collection keeps it for longer.
  // `used_unix_s` is what get() said about the last use. Cheap, and most of the time nothing
  // happens: a use is kept at most once in kUseStampSeconds, and never where others use the store
  // too or nothing may be written. Whether it was kept; an error harms nothing.
  virtual Result<bool> used(std::string_view name, const FileIdentity& identity,
                            std::int64_t used_unix_s) = 0;

  // Whether `bytes` more may be stored: whether that stays within the store's hard limit. May
  // remove other entries to make room. Errors: those of get().
  virtual Result<bool> has_room(std::uint64_t bytes) = 0;

  // Tells the store that `bytes` were published. Passing its soft limit removes what was not used
  // for longest, unless another process is at that. Cheap otherwise. An error harms nothing.
  virtual Result<Collected> after_publish(std::uint64_t bytes) = 0;

  // Where an entry of this name is or would be, as text for people; empty for a bad name.
  virtual std::string locate(std::string_view name) const = 0;
};

}  // namespace precast::store
