#include <string>
#include <string_view>
#include <unordered_set>

#include "base/hash.h"
#include "base/little_endian.h"
#include "precast/key.h"
#include "precast/limits.h"

namespace precast {
namespace {

using namespace std::string_view_literals;

// Domain separation: no field digest, key or other SHA-256 of Precast is taken over bytes that
// another one could be taken over.
constexpr std::string_view kFieldTag = "precast key field 1\0"sv;
constexpr std::string_view kKeyTag = "precast key record 1\0"sv;

// First bytes of a stored record. The last one is the version of the encoding.
constexpr std::string_view kRecordTag = "PKR\1"sv;

// Every name, value and list is preceded by its length in eight bytes, here as in the digests: no
// content can look like a boundary, and no length is ever cut off.
constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);

void append_framed(Bytes& out, BytesView bytes) {
  base::append_little_endian<std::uint64_t>(out, bytes.size());
  out.append(bytes);
}

// Reads a record front to back and remembers where it is, so that errors name the offset.
class RecordReader {
 public:
  explicit RecordReader(BytesView bytes) : bytes_(bytes) {}

  Result<KeyRecord> record() {
    if (!bytes_.starts_with(kRecordTag)) {
      return Error(ErrorCode::corrupt,
                   "these bytes are not a key record: they do not begin with \"PKR\" and 1");
    }
    offset_ = kRecordTag.size();
    PRECAST_ASSIGN(const std::uint64_t count, this->count("fields", limits::kMaxKeyFields));
    std::vector<KeyField> fields;
    fields.reserve(count);
    std::unordered_set<std::string> names;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t start = offset_;
      PRECAST_ASSIGN(KeyField next, field());
      if (!names.insert(next.name).second) {
        return damaged(start, "the field '" + next.name + "' stands twice");
      }
      fields.push_back(std::move(next));
    }
    if (offset_ != bytes_.size()) {
      return damaged(offset_, std::to_string(bytes_.size() - offset_) + " bytes follow the record");
    }
    return KeyRecord(std::move(fields));
  }

 private:
  static Error damaged(std::size_t offset, const std::string& what) {
    return {ErrorCode::corrupt,
            "the key record is damaged at byte " + std::to_string(offset) + ": " + what};
  }

  Result<std::uint64_t> number(const std::string& what) {
    if (bytes_.size() - offset_ < kLengthBytes) {
      return damaged(offset_, "it ends inside the length of " + what);
    }
    const auto value = base::read_little_endian<std::uint64_t>(bytes_, offset_);
    offset_ += kLengthBytes;
    return value;
  }

  // The number of elements of a list. Each takes at least two lengths, so a count that the bytes
  // cannot hold is refused before anything is allocated for it.
  Result<std::uint64_t> count(const std::string& what, std::uint64_t max) {
    const std::size_t start = offset_;
    PRECAST_ASSIGN(const std::uint64_t value, number("the list of " + what));
    if (value > max) {
      return damaged(start, std::to_string(value) + " " + what + ", more than the limit of " +
                                std::to_string(max));
    }
    if (value > (bytes_.size() - offset_) / (2 * kLengthBytes)) {
      return damaged(start,
                     std::to_string(value) + " " + what + ", more than the bytes behind can hold");
    }
    return value;
  }

  Result<Bytes> framed(const std::string& what, std::uint64_t max) {
    const std::size_t start = offset_;
    PRECAST_ASSIGN(const std::uint64_t size, number(what));
    if (size > max) {
      return damaged(start, what + " has " + std::to_string(size) +
                                " bytes, more than the limit of " + std::to_string(max));
    }
    if (size > bytes_.size() - offset_) {
      return damaged(start, what + " has " + std::to_string(size) + " bytes, but only " +
                                std::to_string(bytes_.size() - offset_) + " are left");
    }
    Bytes content(bytes_.substr(offset_, size));
    offset_ += size;
    return content;
  }

  Result<KeyField> field() {
    KeyField field;
    PRECAST_ASSIGN(field.name, framed("a field's name", limits::kMaxKeyNameBytes));
    PRECAST_ASSIGN(const std::uint64_t count, this->count("items", limits::kMaxKeyItems));
    field.items.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      KeyItem item;
      PRECAST_ASSIGN(item.name, framed("an item's name", limits::kMaxKeyNameBytes));
      PRECAST_ASSIGN(item.value, framed("an item's value", limits::kMaxKeyValueBytes));
      field.items.push_back(std::move(item));
    }
    return field;
  }

  BytesView bytes_;
  std::size_t offset_ = 0;
};

}  // namespace

Digest KeyField::digest() const {
  base::Sha256 hash;
  hash.update(kFieldTag).update_framed(name).update_u64(items.size());
  for (const KeyItem& item : items) hash.update_framed(item.name).update_framed(item.value);
  return hash.finish();
}

const Bytes* KeyField::find(std::string_view item) const {
  for (const KeyItem& candidate : items) {
    if (candidate.name == item) return &candidate.value;
  }
  return nullptr;
}

const KeyField* KeyRecord::find(std::string_view field) const {
  for (const KeyField& candidate : fields_) {
    if (candidate.name == field) return &candidate;
  }
  return nullptr;
}

Digest KeyRecord::digest() const {
  base::Sha256 hash;
  hash.update(kKeyTag).update_u64(fields_.size());
  for (const KeyField& field : fields_) {
    hash.update_framed(field.name).update(field.digest().view());
  }
  return hash.finish();
}

Bytes KeyRecord::encode() const {
  std::size_t size = kRecordTag.size() + kLengthBytes;
  for (const KeyField& field : fields_) {
    size += 2 * kLengthBytes + field.name.size();
    for (const KeyItem& item : field.items) {
      size += 2 * kLengthBytes + item.name.size() + item.value.size();
    }
  }
  Bytes out;
  out.reserve(size);
  out.append(kRecordTag);
  base::append_little_endian<std::uint64_t>(out, fields_.size());
  for (const KeyField& field : fields_) {
    append_framed(out, field.name);
    base::append_little_endian<std::uint64_t>(out, field.items.size());
    for (const KeyItem& item : field.items) {
      append_framed(out, item.name);
      append_framed(out, item.value);
    }
  }
  return out;
}

Result<KeyRecord> KeyRecord::decode(BytesView bytes) { return RecordReader(bytes).record(); }

}  // namespace precast
