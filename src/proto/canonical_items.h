// How canonical options collect their items. Internal to canonicalize().
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire.h"
#include "precast/bytes.h"
#include "precast/result.h"
#include "proto/canonical_options.h"
#include "proto/xla_options.h"

namespace precast::proto {

class CanonicalItems {
 public:
  explicit CanonicalItems(std::string_view platform) : cpu_(platform == "cpu") {}

  // A value larger than a key item should be stands as its digest under "sha256(<name>)".
  void add(std::string name, BytesView value);
  // "sha256:<digest>, <n> bytes", for fields that are always large.
  void add_digest(std::string name, BytesView value);
  // A field whose meaning is not known: "<prefix>#<number>" and what the wire says.
  void add_raw(const std::string& prefix, const base::WireField& field);
  void add_file_option(std::string_view name);

  // Whether this option's items are left out.
  bool is_left_out(std::string_view option) const;

  // invalid_argument when there are more items, or longer names, than limits.h allows.
  Result<CanonicalOptions> finish() &&;

 private:
  bool cpu_;
  std::multimap<std::string, Bytes> items_;  // of one name in the order of adding
  std::set<std::string> file_options_;
};

// The fields of a message by number, in their order. invalid_argument when the message does not
// parse or has more fields than limits.h allows.
using FieldsByNumber = std::map<std::uint32_t, std::vector<base::WireField>>;
Result<FieldsByNumber> fields_by_number(BytesView message, const std::string& message_name);

// Values as text.
std::string text_of_bool(std::uint64_t varint);
std::string text_of_int32(std::uint64_t varint);
std::string text_of_int64(std::uint64_t varint);
std::string text_of_float(float value);
std::string text_of_float_bits(std::uint64_t fixed32);
std::string hex_of(BytesView bytes);  // "0x..."

// All numbers of a repeated field, packed or not, joined by commas; nothing when a field has
// another type or is damaged.
std::optional<std::string> text_of_list(const std::vector<base::WireField>& fields,
                                        std::string (*text_of)(std::uint64_t));

// xla.DebugOptions and env_option_overrides (canonical_xla_options.cc).
Result<void> add_debug_options(CanonicalItems& items, BytesView debug_options);
Result<void> add_overrides(CanonicalItems& items, const std::vector<base::WireField>& entries);

// Whether an option, when it is set, makes the content of a file count.
bool counts_as_file_option(std::string_view name, bool cpu);

}  // namespace precast::proto
