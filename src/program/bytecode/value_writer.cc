#include "program/bytecode/value_writer.h"

#include <fmt/format.h>

#include "precast/limits.h"

namespace precast::program::bytecode {
namespace {

Error damaged(std::string message) { return {ErrorCode::corrupt, std::move(message)}; }
Error no_rule(std::string message) { return {ErrorCode::unsupported, std::move(message)}; }

// Text could mention a function, a string or a resource by name.
bool may_mention_names(BytesView text) {
  return text.find_first_of("@\"") != BytesView::npos ||
         text.find("dense_resource") != BytesView::npos;
}

}  // namespace

ValueWriter::ValueWriter(const Container& container, const Tables& tables, CanonicalStream& out)
    : container_(container),
      tables_(tables),
      out_(out),
      attributes_{.entries = tables.attributes,
                  .states = std::vector<std::uint32_t>(tables.attributes.size(), kUnseen)},
      types_{.entries = tables.types,
             .states = std::vector<std::uint32_t>(tables.types.size(), kUnseen),
             .of_types = true},
      key_names_(tables.strings.size(), kNoName),
      symbols_(tables.strings.size(), kNoSymbol),
      strings_written_(tables.strings.size(), false),
      dictionaries_checked_(tables.attributes.size(), false),
      resource_states_(tables.resources.size(), 0) {
  for (const Dialect& dialect : tables.dialects) {
    dialect_names_.push_back(names_.id_of(dialect.name));
    dialect_layouts_.push_back(find_entry_layouts(dialect.name));
  }
}

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
  names_.write(out_, dialect_names_[entry.dialect]);
  PRECAST_TRY(entry.encoded ? encoded_entry(entry, space.of_types) : text_entry(entry));
  --depth_;
  // The number is given when the entry is complete, so that a reader of the stream could give the
  // same one.
  space.states[index] = kFirstDone + space.written++;
  return {};
}

Result<void> ValueWriter::text_entry(const Entry& entry) {
  Cursor in(container_.file, entry.content);
  const BytesView text = in.text();
  PRECAST_TRY(in.check_end("an attribute or type written as text"));
  opaque_text_written_ = opaque_text_written_ || may_mention_names(text);
  out_.number(0);
  out_.bytes(text);
  return {};
}

Result<void> ValueWriter::encoded_entry(const Entry& entry, bool of_types) {
  const char* kind = of_types ? "type" : "attribute";
  const BytesView dialect = tables_.dialects[entry.dialect].name;
  std::optional<Opened> opened = open(entry);
  if (!opened) return no_rule(fmt::format("no rule decodes {}s of dialect '{}'", kind, dialect));
  const auto layouts = of_types ? opened->layouts->types : opened->layouts->attributes;
  if (opened->code >= layouts.size() || layouts[opened->code].name.empty()) {
    return no_rule(fmt::format("unknown {} code {} of dialect '{}'", kind, opened->code, dialect));
  }
  const EntryLayout& layout = layouts[opened->code];
  out_.number(1 + opened->code);
  PRECAST_TRY(fields(opened->fields, layout.fields));
  if (!opened->fields.failed() && opened->fields.at_end()) return {};
  return opened->fields.check_end(
      fmt::format("{} '{}' of dialect '{}'", kind, layout.name, dialect));
}

Result<void> ValueWriter::fields(Cursor& in, std::string_view layout) {
  for (std::size_t at = 0; at < layout.size(); ++at) {
    if (layout[at] != '[') {
      PRECAST_TRY(field(in, layout[at]));
      continue;
    }
    const std::size_t close = layout.find(']', at);
    const std::string_view item = layout.substr(at + 1, close - at - 1);
    const std::uint64_t count = in.count();
    out_.number(count);
    NameId previous_key = kNoName;
    for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
      for (const char kind : item) {
        if (kind == 'k') {
          PRECAST_ASSIGN(previous_key, dictionary_key(in.varint(), previous_key));
          names_.write(out_, previous_key);
        } else {
          PRECAST_TRY(field(in, kind));
        }
      }
    }
    at = close;
  }
  return {};
}

Result<void> ValueWriter::field(Cursor& in, char kind) {
  switch (kind) {
    case 'a': return attribute(in.varint());
    case 't': return type(in.varint());
    case 'v': out_.number(in.varint()); return {};
    case 's': string(in); return {};
    case 'b': out_.bytes(in.bytes(in.varint())); return {};
    case '*': out_.bytes(in.take_rest()); return {};
    case 'r': return resource(in);
    case 'y': {
      const std::uint8_t value = in.byte();
      if (value > 1) in.fail("a bool is neither 0 nor 1");
      out_.number(value);
      return {};
    }
    case '$':
      while (!in.at_end() && !out_.exhausted()) string(in);
      return out_.check_budget();
    case 'A':
    case 'W':
    case 'Y': return optional_attribute(in, kind);
    default: return Error(ErrorCode::internal, fmt::format("no field kind '{}'", kind));
  }
}

Result<void> ValueWriter::optional_attribute(Cursor& in, char kind) {
  std::uint64_t value = kind == 'Y' ? in.byte() : in.varint();
  const bool present = (value & 1) != 0;
  if (kind != 'A' && value > 1) in.fail("a flag is neither 0 nor 1");
  if (kind == 'A' && !present && value != 0) in.fail("an absent attribute has a number");
  out_.number(present ? 1 : 0);
  if (!present || in.failed()) return {};
  return attribute(kind == 'A' ? value >> 1 : in.varint());
}

void ValueWriter::string(Cursor& in) {
  const std::uint64_t index = in.index(tables_.strings.size());
  if (in.failed()) return;
  out_.bytes(tables_.strings[index]);
  strings_written_[index] = true;
}

std::optional<ValueWriter::Opened> ValueWriter::open(const Entry& entry) const {
  Opened opened{.layouts = dialect_layouts_[entry.dialect],
                .fields = Cursor(container_.file, entry.content)};
  if (!entry.encoded || opened.layouts == nullptr) return std::nullopt;
  opened.code = opened.fields.varint();
  return opened;
}

}  // namespace precast::program::bytecode
