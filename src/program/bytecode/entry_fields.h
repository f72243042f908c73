// Steps through the fields of an entry by its layout (entry_layouts.h) and tells a sink.
//
// The one place that knows the grammar of layouts. A sink has:
//
//   void number(std::uint64_t)               Result<void> attribute(std::uint64_t index)
//   void bytes(BytesView)                    Result<void> type(std::uint64_t index)
//   void string(std::uint64_t index)         Result<void> resource(std::size_t index)
//   void key(NameId)                         Result<void> check_budget()
//
// Indices of strings and resources are checked, those of attributes and types are not.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "precast/result.h"
#include "program/bytecode/cursor.h"
#include "program/bytecode/entry_reader.h"
#include "program/bytecode/names.h"

namespace precast::program::bytecode {

template <class Sink>
class EntryFields {
 public:
  EntryFields(EntryReader& reader, Sink& sink) : reader_(reader), sink_(sink) {}

  Result<void> read(Cursor& in, std::string_view layout) {
    for (std::size_t at = 0; at < layout.size(); ++at) {
      if (layout[at] != '[') {
        PRECAST_TRY(field(in, layout[at]));
        continue;
      }
      const std::size_t close = layout.find(']', at);
      PRECAST_TRY(list(in, layout.substr(at + 1, close - at - 1)));
      at = close;
    }
    return {};
  }

  Result<void> field(Cursor& in, char kind) {
    switch (kind) {
      case 'a': return sink_.attribute(in.varint());
      case 't': return sink_.type(in.varint());
      case 'v': sink_.number(in.varint()); return {};
      case 's': string(in); return {};
      case 'b': sink_.bytes(in.bytes(in.varint())); return {};
      case '*': sink_.bytes(in.take_rest()); return {};
      case 'r': return resource(in);
      case 'y': {
        const std::uint8_t value = in.byte();
        if (value > 1) in.fail("a bool is neither 0 nor 1");
        sink_.number(value);
        return {};
      }
      case '$':
        while (!in.at_end()) {
          string(in);
          PRECAST_TRY(sink_.check_budget());
        }
        return {};
      case 'A':
      case 'W':
      case 'Y': return optional_attribute(in, kind);
      default: return Error(ErrorCode::internal, fmt::format("no field kind '{}'", kind));
    }
  }

 private:
  Result<void> list(Cursor& in, std::string_view item) {
    const std::uint64_t count = in.count();
    sink_.number(count);
    NameId previous_key = kNoName;
    for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
      for (const char kind : item) {
        if (kind == 'k') {
          PRECAST_ASSIGN(previous_key, reader_.dictionary_key(in.varint(), previous_key));
          sink_.key(previous_key);
        } else {
          PRECAST_TRY(field(in, kind));
        }
      }
    }
    return {};
  }

  Result<void> optional_attribute(Cursor& in, char kind) {
    std::uint64_t value = kind == 'Y' ? in.byte() : in.varint();
    const bool present = (value & 1) != 0;
    if (kind != 'A' && value > 1) in.fail("a flag is neither 0 nor 1");
    if (kind == 'A' && !present && value != 0) in.fail("an absent attribute has a number");
    sink_.number(present ? 1 : 0);
    if (!present || in.failed()) return {};
    return sink_.attribute(kind == 'A' ? value >> 1 : in.varint());
  }

  void string(Cursor& in) {
    const std::uint64_t index = in.index(reader_.tables().strings.size());
    if (!in.failed()) sink_.string(index);
  }

  Result<void> resource(Cursor& in) {
    const Tables& tables = reader_.tables();
    const std::uint64_t handle = in.index(tables.resources.size() - tables.external_resources);
    PRECAST_TRY(in.check("a resource handle"));
    return sink_.resource(handle + tables.external_resources);
  }

  EntryReader& reader_;
  Sink& sink_;
};

}  // namespace precast::program::bytecode
