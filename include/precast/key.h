// KeyRecord: the complete name of a compilation.
//
// The record is a list of named fields; a field is a list of named items. Each field has its own
// digest, and the key is a digest of the field digests. The record itself is stored in the artifact
// and compared on load, so an equal digest with an unequal record is an error, and explain and diff
// can always name the field and the item. docs/key.md says what is in each field and what is left
// out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "precast/bytes.h"
#include "precast/digest.h"
#include "precast/export.h"
#include "precast/result.h"

namespace precast {

struct KeyItem {  // A named value.
  std::string name;
  Bytes value;  // any bytes; readable text wherever the value is text or a number
  bool operator==(const KeyItem&) const = default;
};

struct PRECAST_EXPORT KeyField {  // A named list of items.
  std::string name;
  std::vector<KeyItem> items;

  Digest digest() const;
  const Bytes* find(std::string_view item) const;
  bool operator==(const KeyField&) const = default;
};

// One difference between two records. A field or item that one side lacks has no value there. Where
// both sides have the same items (or fields) in another order, `item` (and `field`) is empty, both
// sides are in, and the values are the names in their order.
struct KeyDifference {
  std::string field;
  std::string item;  // empty when a whole field is missing on one side
  bool in_left = false;
  bool in_right = false;
  Bytes left;
  Bytes right;
};

class PRECAST_EXPORT KeyRecord {
 public:
  KeyRecord() = default;
  explicit KeyRecord(std::vector<KeyField> fields) : fields_(std::move(fields)) {}

  const std::vector<KeyField>& fields() const { return fields_; }
  const KeyField* find(std::string_view field) const;

  // The key.
  Digest digest() const;

  // The stored form; docs/format.md has the byte table.
  Bytes encode() const;
  // corrupt when the bytes are not exactly one record within the limits, or a field name stands
  // twice.
  static Result<KeyRecord> decode(BytesView bytes);

  bool operator==(const KeyRecord&) const = default;

 private:
  std::vector<KeyField> fields_;
};

// Everything that differs, in the order of `left`'s fields, then what only `right` has; empty
// exactly when the records are equal. Repeated items of one name are compared by position.
PRECAST_EXPORT std::vector<KeyDifference> diff(const KeyRecord& left, const KeyRecord& right);

}  // namespace precast
