#include "program/bytecode/entry_digests.h"

#include <fmt/format.h>

#include <utility>

#include "base/little_endian.h"
#include "precast/limits.h"
#include "program/bytecode/entry_fields.h"

namespace precast::program::bytecode {

std::uint64_t short_digest(BytesView bytes) {
  const Digest digest = base::sha256(bytes);
  return base::read_little_endian<std::uint64_t>(digest.view(), 0);
}

// A sink of EntryFields: the content of one entry, in which other entries stand by their digests.
class EntryDigests::Content {
 public:
  explicit Content(EntryDigests& digests) : digests_(digests) {}

  void number(std::uint64_t value) { base::append_little_endian(content_, value); }
  void bytes(BytesView bytes) {
    number(bytes.size());
    spent_ += bytes.size();
    // A large constant is hashed where it lies.
    if (bytes.size() > kMaxCopied) {
      number(short_digest(bytes));
    } else {
      content_.append(bytes);
    }
  }
  void string(std::uint64_t index) { bytes(digests_.reader_.tables().strings[index]); }
  void key(NameId name) { bytes(digests_.reader_.names().text(name)); }
  Result<void> attribute(std::uint64_t index) { return nested(digests_.attribute(index)); }
  Result<void> type(std::uint64_t index) { return nested(digests_.type(index)); }
  Result<void> resource(std::size_t index) { return nested(digests_.resource(index)); }
  Result<void> check_budget() { return digests_.spend(std::exchange(spent_, 0)); }

  Result<std::uint64_t> finish() {
    PRECAST_TRY(check_budget());
    return short_digest(content_);
  }

 private:
  static constexpr std::size_t kMaxCopied = 4096;

  Result<void> nested(Result<std::uint64_t> digest) {
    PRECAST_ASSIGN(const std::uint64_t value, std::move(digest));
    number(value);
    return {};
  }

  EntryDigests& digests_;
  Bytes content_;
  std::uint64_t spent_ = 0;
};

EntryDigests::EntryDigests(EntryReader& reader)
    : reader_(reader),
      attributes_{.entries = reader.tables().attributes,
                  .of_types = false,
                  .states = std::vector<State>(reader.tables().attributes.size(), State::unseen),
                  .digests = std::vector<std::uint64_t>(reader.tables().attributes.size())},
      types_{.entries = reader.tables().types,
             .of_types = true,
             .states = std::vector<State>(reader.tables().types.size(), State::unseen),
             .digests = std::vector<std::uint64_t>(reader.tables().types.size())},
      resource_states_(reader.tables().resources.size(), State::unseen),
      resource_digests_(reader.tables().resources.size()),
      budget_(limits::program_expansion_bytes(reader.container().file.size())) {}

Result<void> EntryDigests::spend(std::uint64_t bytes) {
  if (bytes > budget_) {
    return Error(ErrorCode::resource_exhausted, "the program expands to too many bytes");
  }
  budget_ -= bytes;
  return {};
}

Result<std::uint64_t> EntryDigests::digest(Space& space, std::uint64_t index) {
  const char* kind = space.of_types ? "type" : "attribute";
  if (index >= space.states.size()) {
    return Error(ErrorCode::corrupt, fmt::format("{} {} lies outside its table", kind, index));
  }
  if (space.states[index] == State::done) return space.digests[index];
  if (space.states[index] == State::open || depth_ >= limits::kMaxBytecodeNesting) {
    return Error(ErrorCode::corrupt, fmt::format("{} {} nests too deep", kind, index));
  }
  const Entry& entry = space.entries[index];
  space.states[index] = State::open;
  ++depth_;
  Content content(*this);
  content.bytes(reader_.tables().dialects[entry.dialect].name);
  if (entry.encoded) {
    std::optional<EntryReader::Opened> opened = reader_.open(entry);
    PRECAST_ASSIGN(const EntryLayout* layout, reader_.layout_of(entry, opened, space.of_types));
    content.number(1 + opened->code);
    PRECAST_TRY(EntryFields(reader_, content).read(opened->fields, layout->fields));
    PRECAST_TRY(opened->fields.check_end(layout->name));
  } else {
    PRECAST_ASSIGN(const BytesView text, reader_.text_of(entry));
    content.number(0);
    content.bytes(text);
  }
  --depth_;
  PRECAST_ASSIGN(space.digests[index], content.finish());
  space.states[index] = State::done;
  return space.digests[index];
}

Result<std::uint64_t> EntryDigests::resource(std::size_t index) {
  if (resource_states_[index] == State::done) return resource_digests_[index];
  const Resource& resource = reader_.tables().resources[index];
  Content content(*this);
  content.bytes(resource.group);
  if (resource.kind == ResourceKind::blob && !resource.content.empty()) {
    Cursor in(reader_.container().file, resource.content);
    const ResourceBlob blob = read_blob(in);
    PRECAST_TRY(in.check_end("a resource"));
    content.number(blob.alignment);
    content.bytes(blob.bytes);
  } else {
    content.bytes(resource.content);
  }
  PRECAST_ASSIGN(resource_digests_[index], content.finish());
  resource_states_[index] = State::done;
  return resource_digests_[index];
}

}  // namespace precast::program::bytecode
