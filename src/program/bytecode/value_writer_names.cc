// The parts of ValueWriter that are about names: strings, dictionary keys, symbols, resources.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "precast/limits.h"
#include "program/bytecode/value_writer.h"

namespace precast::program::bytecode {
namespace {

// Which attribute names the function in a symbol slot.
constexpr std::uint64_t kFormBuiltinString = 0;
constexpr std::uint64_t kFormFlatSymbolRef = 1;
constexpr std::uint64_t kFormVhloString = 2;

Error damaged(std::string message) { return {ErrorCode::corrupt, std::move(message)}; }

}  // namespace

std::optional<ValueWriter::NamedFunction> ValueWriter::named_function(
    std::uint64_t attribute) const {
  if (attribute >= tables_.attributes.size()) return std::nullopt;
  std::optional<Opened> opened = open(tables_.attributes[attribute]);
  if (!opened) return std::nullopt;
  NamedFunction result;
  if (opened->layouts == &kBuiltinLayouts && opened->code == codes::kBuiltinFlatSymbolRef) {
    result.form = kFormFlatSymbolRef;
    const std::uint64_t inner = opened->fields.varint();
    if (opened->fields.failed() || !opened->fields.at_end()) return std::nullopt;
    if (inner >= tables_.attributes.size()) return std::nullopt;
    opened = open(tables_.attributes[inner]);
    if (!opened || opened->layouts != &kBuiltinLayouts) return std::nullopt;
    if (opened->code != codes::kBuiltinString) return std::nullopt;
  } else if (opened->layouts == &kBuiltinLayouts && opened->code == codes::kBuiltinString) {
    result.form = kFormBuiltinString;
  } else if (opened->layouts == &kVhloLayouts && opened->code == codes::kVhloString) {
    result.form = kFormVhloString;
  } else {
    return std::nullopt;
  }
  result.string = static_cast<std::uint32_t>(opened->fields.index(tables_.strings.size()));
  if (opened->fields.failed() || !opened->fields.at_end()) return std::nullopt;
  return result;
}

std::optional<BytesView> ValueWriter::string_of(std::uint64_t index) const {
  const auto named = named_function(index);
  if (!named) return std::nullopt;
  return tables_.strings[named->string];
}

SymbolId ValueWriter::symbol(std::uint32_t string, Symbols& symbols) {
  if (symbols_[string] == kNoSymbol) symbols_[string] = symbols.id_of(tables_.strings[string]);
  return symbols_[string];
}

Result<SymbolId> ValueWriter::symbol_slot(std::uint64_t index, Symbols& symbols) {
  if (const auto named = named_function(index)) {
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
  const std::optional<Opened> opened = open(tables_.attributes[index]);
  const bool is_builtin =
      opened && opened->layouts == &kBuiltinLayouts && opened->code == codes::kBuiltinArray;
  const bool is_vhlo =
      opened && opened->layouts == &kVhloLayouts && opened->code == codes::kVhloArray;
  if (!is_builtin && !is_vhlo) return attribute(index);
  Cursor items = opened->fields;
  const std::uint64_t count = items.count();
  std::vector<NamedFunction> functions;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto named = named_function(items.varint());
    if (items.failed() || !named) return attribute(index);
    functions.push_back(*named);
  }
  PRECAST_TRY(items.check_end("a list of functions"));
  PRECAST_TRY(out_.check_budget());
  out_.number(reference::kSymbolList);
  out_.number(is_vhlo ? 1 : 0);
  out_.number(count);
  for (const NamedFunction& function : functions) {
    out_.number(function.form);
    out_.number(symbol(function.string, symbols));
  }
  return {};
}

Result<NameId> ValueWriter::dictionary_key(std::uint64_t attribute, NameId previous) {
  const auto named = named_function(attribute);
  if (!named || named->form != kFormBuiltinString) {
    return damaged("the key of a dictionary is not a string");
  }
  NameId& key = key_names_[named->string];
  if (key == kNoName) {
    const BytesView text = tables_.strings[named->string];
    PRECAST_TRY(check_name(text, "the key of a dictionary"));
    key = names_.id_of(text);
  }
  if (previous != kNoName && names_.text(previous) >= names_.text(key)) {
    return damaged(fmt::format("the keys of a dictionary do not ascend at '{}'", names_.text(key)));
  }
  return key;
}

Result<const std::vector<DictionaryItem>*> ValueWriter::dictionary(std::uint64_t index) {
  dictionary_.clear();
  if (index >= tables_.attributes.size()) {
    return damaged(fmt::format("attribute {} lies outside its table", index));
  }
  std::optional<Opened> opened = open(tables_.attributes[index]);
  if (!opened || opened->layouts != &kBuiltinLayouts || opened->code != codes::kBuiltinDictionary) {
    return damaged("the attributes of an operation are not a dictionary");
  }
  Cursor& in = opened->fields;
  const std::uint64_t count = in.count();
  const bool checked = dictionaries_checked_[index];
  NameId previous = kNoName;
  for (std::uint64_t i = 0; i < count; ++i) {
    PRECAST_ASSIGN(const NameId key, dictionary_key(in.varint(), checked ? kNoName : previous));
    dictionary_.push_back({.name = key, .value = in.varint()});
    previous = key;
  }
  PRECAST_TRY(in.check_end("the attributes of an operation"));
  dictionaries_checked_[index] = true;
  return &dictionary_;
}

Result<void> ValueWriter::resource(Cursor& in) {
  const std::uint64_t handle = in.index(tables_.resources.size() - tables_.external_resources);
  PRECAST_TRY(in.check("a resource handle"));
  const std::size_t index = handle + tables_.external_resources;
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
  Cursor in(container_.file, resource.content);
  switch (resource.kind) {
    case ResourceKind::blob: {
      const std::uint64_t alignment = in.varint();
      const std::uint64_t size = in.varint();
      in.align(alignment);
      out_.number(alignment);
      out_.bytes(in.bytes(size));
      break;
    }
    case ResourceKind::boolean: PRECAST_TRY(field(in, 'y')); break;
    case ResourceKind::string: string(in); break;
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
