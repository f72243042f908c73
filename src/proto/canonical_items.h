// How canonical options collect their items. Internal to canonicalize().
#pragma once

#include <cstdint>
#include <map>
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
  // `contents` must outlive the object.
  CanonicalItems(std::string_view platform, const ContentTexts& contents)
      : cpu_(platform == "cpu"), contents_(contents) {}

  // A value larger than a key item should be stands as its digest under "sha256(<name>)".
  void add(std::string name, BytesView value);
  // "sha256:<digest>, <n> bytes", for fields that are always large.
  void add_digest(std::string name, BytesView value);
  // A field whose meaning is not known: "<prefix>#<number>" and what the wire says.
  void add_raw(const std::string& prefix, const base::WireField& field);

  // Whether this option's items are left out.
  bool is_left_out(std::string_view option) const { return is_left_out_on(option, cpu_); }
  const ContentTexts& contents() const { return contents_; }
  static bool is_left_out_on(std::string_view option, bool cpu);

  // invalid_argument when there are more items, or longer names, than limits.h allows.
  Result<CanonicalOptions> finish() &&;

 private:
  bool cpu_;
  const ContentTexts& contents_;
  std::multimap<std::string, Bytes> items_;  // of one name in the order of adding
};

// The fields of a message by number, in their order. invalid_argument when the message does not
// parse or has more fields than limits.h allows.
using FieldsByNumber = std::map<std::uint32_t, std::vector<base::WireField>>;
Result<FieldsByNumber> fields_by_number(BytesView message, const std::string& message_name);

// Values as text.
std::string text_of_bool(std::uint64_t varint);
std::string text_of_int64(std::uint64_t varint);
std::string hex_of(BytesView bytes);  // "0x..."

// All numbers of a repeated field, packed or not, joined by commas; nothing when a field has
// another type or is damaged.
std::optional<std::string> text_of_list(const std::vector<base::WireField>& fields,
                                        std::string (*text_of)(std::uint64_t));

// xla.DebugOptions and env_option_overrides (canonical_xla_options.cc).
Result<void> add_debug_options(CanonicalItems& items, BytesView debug_options);
Result<void> add_overrides(CanonicalItems& items, const std::vector<base::WireField>& entries);

}  // namespace precast::proto
