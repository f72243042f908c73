#include "program/bytecode/entry_reader.h"

#include <fmt/format.h>

#include <utility>

namespace precast::program::bytecode {
namespace {

Error damaged(std::string message) { return {ErrorCode::corrupt, std::move(message)}; }
Error no_rule(std::string message) { return {ErrorCode::unsupported, std::move(message)}; }

}  // namespace

EntryReader::EntryReader(const Container& container, const Tables& tables)
    : container_(container),
      tables_(tables),
      key_names_(tables.strings.size(), kNoName),
      dictionaries_checked_(tables.attributes.size(), false) {
  for (const Dialect& dialect : tables.dialects) {
    dialect_names_.push_back(names_.id_of(dialect.name));
    dialect_layouts_.push_back(find_entry_layouts(dialect.name));
  }
}

Result<const EntryLayout*> EntryReader::layout_of(const Entry& entry,
                                                  const std::optional<Opened>& opened,
                                                  bool of_types) const {
  const char* kind = of_types ? "type" : "attribute";
  const BytesView dialect = tables_.dialects[entry.dialect].name;
  if (!opened) return no_rule(fmt::format("no rule decodes {}s of dialect '{}'", kind, dialect));
  const auto layouts = of_types ? opened->layouts->types : opened->layouts->attributes;
  if (opened->code >= layouts.size() || layouts[opened->code].name.empty()) {
    return no_rule(fmt::format("unknown {} code {} of dialect '{}'", kind, opened->code, dialect));
  }
  return &layouts[opened->code];
}

Result<BytesView> EntryReader::text_of(const Entry& entry) const {
  Cursor in(container_.file, entry.content);
  const BytesView text = in.text();
  PRECAST_TRY(in.check_end("an attribute or type written as text"));
  return text;
}

std::optional<EntryReader::NamedFunction> EntryReader::named_function(
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

std::optional<BytesView> EntryReader::string_of(std::uint64_t attribute) const {
  const auto named = named_function(attribute);
  if (!named) return std::nullopt;
  return tables_.strings[named->string];
}

Result<std::optional<std::vector<EntryReader::NamedFunction>>> EntryReader::list_of_functions(
    std::uint64_t attribute, bool& is_vhlo) const {
  using Functions = std::optional<std::vector<NamedFunction>>;
  if (attribute >= tables_.attributes.size()) return Functions();
  const std::optional<Opened> opened = open(tables_.attributes[attribute]);
  const bool is_builtin =
      opened && opened->layouts == &kBuiltinLayouts && opened->code == codes::kBuiltinArray;
  is_vhlo = opened && opened->layouts == &kVhloLayouts && opened->code == codes::kVhloArray;
  if (!is_builtin && !is_vhlo) return Functions();
  Cursor items = opened->fields;
  const std::uint64_t count = items.count();
  std::vector<NamedFunction> functions;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto named = named_function(items.varint());
    if (items.failed() || !named) return Functions();
    functions.push_back(*named);
  }
  PRECAST_TRY(items.check_end("a list of functions"));
  return Functions(std::move(functions));
}

Result<NameId> EntryReader::dictionary_key(std::uint64_t attribute, NameId previous) {
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

Result<const std::vector<DictionaryItem>*> EntryReader::dictionary(std::uint64_t index) {
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

}  // namespace precast::program::bytecode
