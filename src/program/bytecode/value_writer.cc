#include "program/bytecode/value_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "precast/limits.h"
#include "program/bytecode/entry_fields.h"

namespace precast::program::bytecode {
namespace {

Error damaged(std::string message) { return {ErrorCode::corrupt, std::move(message)}; }

// Text could mention a function, a string or a resource by name.
bool may_mention_names(BytesView text) {
  return text.find_first_of("@\"") != BytesView::npos ||
         text.find("dense_resource") != BytesView::npos;
}

}  // namespace

ValueWriter::ValueWriter(EntryReader& reader, CanonicalStream& out)
    : reader_(reader),
      tables_(reader.tables()),
      out_(out),
      attributes_{.entries = tables_.attributes,
                  .states = std::vector<std::uint32_t>(tables_.attributes.size(), kUnseen)},
      types_{.entries = tables_.types,
             .states = std::vector<std::uint32_t>(tables_.types.size(), kUnseen),
             .of_types = true},
      symbols_(tables_.strings.size(), kNoSymbol),
      strings_written_(tables_.strings.size(), false),
      resource_states_(tables_.resources.size(), 0) {}

Result<void> ValueWriter::first_use(Space& space, std::uint64_t index) {
  const char* kind = space.of_types ? "type" : "attribute";
  if (index >= space.states.size()) {
    return damaged(
        fmt::format("{} {} lies outside its table of {}", kind, index, space.states.size()));
  }
  if (space.states[index] == kOpen) {
    return damaged(fmt::format("{} {} contains itself", kind, index));
  }
  if (depth_ >= limits::kMaxBytecodeNesting) {
    return damaged(
        fmt::format("attributes and types nest deeper than {}", limits::kMaxBytecodeNesting));
  }
  PRECAST_TRY(out_.check_budget());
  const Entry& entry = space.entries[index];
  space.states[index] = kOpen;
  ++depth_;
  out_.number(reference::kHere);
  reader_.names().write(out_, reader_.dialect_name(entry));
  PRECAST_TRY(entry.encoded ? encoded_entry(entry, space.of_types) : text_entry(entry));
  --depth_;
  // The number is given when the entry is complete, so that a reader of the stream could give the
  // same one.
  space.states[index] = kFirstDone + space.written++;
  return {};
}

Result<void> ValueWriter::text_entry(const Entry& entry) {
  PRECAST_ASSIGN(const BytesView text, reader_.text_of(entry));
  opaque_text_written_ = opaque_text_written_ || may_mention_names(text);
  out_.number(0);
  out_.bytes(text);
  return {};
}

Result<void> ValueWriter::encoded_entry(const Entry& entry, bool of_types) {
  std::optional<EntryReader::Opened> opened = reader_.open(entry);
  PRECAST_ASSIGN(const EntryLayout* layout, reader_.layout_of(entry, opened, of_types));
  out_.number(1 + opened->code);
  PRECAST_TRY(EntryFields(reader_, *this).read(opened->fields, layout->fields));
  if (!opened->fields.failed() && opened->fields.at_end()) return {};
  return opened->fields.check_end(fmt::format("{} '{}' of dialect '{}'",
                                              of_types ? "type" : "attribute", layout->name,
                                              tables_.dialects[entry.dialect].name));
}

SymbolId ValueWriter::symbol(std::uint32_t string, Symbols& symbols) {
  if (symbols_[string] == kNoSymbol) symbols_[string] = symbols.id_of(tables_.strings[string]);
  return symbols_[string];
}

Result<SymbolId> ValueWriter::symbol_slot(std::uint64_t index, Symbols& symbols) {
  if (const auto named = reader_.named_function(index)) {
    const SymbolId id = symbol(named->string, symbols);
    out_.number(reference::kSymbol);
    out_.number(named->form);
    out_.number(id);
    return id;
  }
  // A list that was written as an ordinary attribute before stays one: its strings are in the
  // stream, so the names it mentions will be disclosed.
  const bool is_written =
      index >= attributes_.states.size() || attributes_.states[index] >= kFirstDone;
  PRECAST_TRY(is_written ? attribute(index) : symbol_list(index, symbols));
  return kNoSymbol;
}

Result<void> ValueWriter::symbol_list(std::uint64_t index, Symbols& symbols) {
  bool is_vhlo = false;
  PRECAST_ASSIGN(const auto functions, reader_.list_of_functions(index, is_vhlo));
  if (!functions) return attribute(index);
  PRECAST_TRY(out_.check_budget());
  out_.number(reference::kSymbolList);
  out_.number(is_vhlo ? 1 : 0);
  out_.number(functions->size());
  for (const EntryReader::NamedFunction& function : *functions) {
    out_.number(function.form);
    out_.number(symbol(function.string, symbols));
  }
  return {};
}

Result<void> ValueWriter::resource(std::size_t index) {
  if (resource_states_[index] != 0) {
    out_.number(resource_states_[index] - 1 + reference::kFirstEarlier);
    return {};
  }
  // Its key is left out: MLIR makes keys unique within a context, so they depend on what the
  // process did before.
  const Resource& resource = tables_.resources[index];
  out_.number(reference::kHere);
  out_.bytes(resource.group);
  PRECAST_TRY(resource_content(resource));
  resources_written_.push_back(index);
  resource_states_[index] = static_cast<std::uint32_t>(resources_written_.size());
  return {};
}

Result<void> ValueWriter::resource_content(const Resource& resource) {
  if (resource.content.empty()) {
    out_.number(0);
    return {};
  }
  out_.number(1 + static_cast<std::uint64_t>(resource.kind));
  Cursor in(reader_.container().file, resource.content);
  EntryFields fields(reader_, *this);
  switch (resource.kind) {
    case ResourceKind::blob: {
      const ResourceBlob blob = read_blob(in);
      out_.number(blob.alignment);
      out_.bytes(blob.bytes);
      break;
    }
    case ResourceKind::boolean: PRECAST_TRY(fields.field(in, 'y')); break;
    case ResourceKind::string: PRECAST_TRY(fields.field(in, 's')); break;
  }
  return in.check_end("a resource");
}

Result<void> ValueWriter::write_unused_resources() {
  std::vector<const Resource*> unused;
  for (std::size_t i = 0; i < tables_.resources.size(); ++i) {
    if (resource_states_[i] == 0) unused.push_back(&tables_.resources[i]);
  }
  std::ranges::sort(unused, {}, [](const Resource* resource) {
    return std::tuple(resource->external, resource->group, resource->key, resource->content);
  });
  out_.number(unused.size());
  for (const Resource* resource : unused) {
    PRECAST_TRY(out_.check_budget());
    out_.number(resource->external ? 1 : 0);
    out_.bytes(resource->group);
    out_.bytes(resource->key);
    PRECAST_TRY(resource_content(*resource));
  }
  // Text may refer to a resource by its key.
  out_.number(opaque_text_written_ ? 1 : 0);
  if (!opaque_text_written_) return {};
  for (const std::size_t index : resources_written_) {
    PRECAST_TRY(out_.check_budget());
    out_.bytes(tables_.resources[index].key);
  }
  return {};
}

void ValueWriter::disclose(Symbols& symbols) const {
  if (opaque_text_written_) symbols.all_suffixes_count();
  for (std::size_t i = 0; i < strings_written_.size(); ++i) {
    if (strings_written_[i]) symbols.occurs_elsewhere(tables_.strings[i]);
  }
}

}  // namespace precast::program::bytecode
