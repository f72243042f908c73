#include "program/bytecode/test_writer.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace precast::program::bytecode {
namespace {

template <typename T>
std::uint64_t enter(std::vector<T>& table, const T& thing) {
  const auto at = std::ranges::find(table, thing);
  if (at != table.end()) return static_cast<std::uint64_t>(at - table.begin());
  table.push_back(thing);
  return table.size() - 1;
}

Bytes framed_section(int id, const Bytes& content) {
  return byte(static_cast<unsigned>(id)) + number(content.size()) + content;
}

Bytes numbers(const std::vector<std::uint64_t>& values) {
  Bytes bytes = number(values.size());
  for (const std::uint64_t value : values) bytes += number(value);
  return bytes;
}

}  // namespace

Bytes byte(unsigned value) { return {static_cast<char>(value)}; }

Bytes long_number(std::uint64_t value) {
  Bytes bytes = byte(0);
  for (int i = 0; i < 8; ++i) bytes += byte(static_cast<unsigned>(value >> (8 * i) & 0xff));
  return bytes;
}

Bytes number(std::uint64_t value) {
  const int bits = std::max(1, static_cast<int>(std::bit_width(value)));
  const int size = (bits + 6) / 7;
  if (size > 8) return long_number(value);
  std::uint64_t prefixed = (value << 1 | 1) << (size - 1);
  if (size == 8) prefixed = value << 8 | 0x80;
  Bytes bytes;
  for (int i = 0; i < size; ++i) bytes += byte(static_cast<unsigned>(prefixed >> (8 * i) & 0xff));
  return bytes;
}

Bytes list(const std::vector<Bytes>& items) {
  Bytes bytes = number(items.size());
  for (const Bytes& item : items) bytes += item;
  return bytes;
}

Bytes blob(BytesView bytes) { return number(bytes.size()) + Bytes(bytes); }

TestFile::TestFile(std::uint64_t bytecode_version) : version_(bytecode_version) {
  location();  // 0: the place of everything that names none
}

std::uint64_t TestFile::string(const std::string& text) { return enter(strings_, text); }

std::uint64_t TestFile::dialect(const std::string& name) {
  string(name);
  return enter(dialects_, name);
}

std::uint64_t TestFile::op(const std::string& dialect_name, const std::string& name,
                           bool registered) {
  const std::uint64_t in = dialect(dialect_name);
  string(name);
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    if (ops_[i].dialect == in && ops_[i].name == name) return i;
  }
  ops_.push_back({.dialect = in, .name = name, .registered = registered});
  return ops_.size() - 1;
}

std::uint64_t TestFile::attribute(const std::string& dialect_name, const Bytes& encoded) {
  attributes_.push_back({.dialect = dialect(dialect_name), .bytes = encoded, .encoded = true});
  return attributes_.size() - 1;
}

std::uint64_t TestFile::type(const std::string& dialect_name, const Bytes& encoded) {
  types_.push_back({.dialect = dialect(dialect_name), .bytes = encoded, .encoded = true});
  return types_.size() - 1;
}

std::uint64_t TestFile::attribute_text(const std::string& dialect_name, const std::string& text) {
  attributes_.push_back({.dialect = dialect(dialect_name), .bytes = text + '\0', .encoded = false});
  return attributes_.size() - 1;
}

std::uint64_t TestFile::type_text(const std::string& dialect_name, const std::string& text) {
  types_.push_back({.dialect = dialect(dialect_name), .bytes = text + '\0', .encoded = false});
  return types_.size() - 1;
}

std::uint64_t TestFile::property_set(const Bytes& encoded) {
  properties_.push_back(encoded);
  return properties_.size() - 1;
}

std::uint64_t TestFile::resource(const std::string& dialect_name, const std::string& key,
                                 BytesView content) {
  string(key);
  resources_.emplace_back(dialect(dialect_name),
                          Resource{.key = key, .bytes = number(1) + blob(content), .kind = 0});
  return resources_.size() - 1;
}

void TestFile::external_resource(const std::string& group, const std::string& key,
                                 const std::string& value) {
  string(group);
  string(key);
  external_resources_[group].push_back({.key = key, .bytes = number(string(value)), .kind = 2});
}

void TestFile::dialect_version(const std::string& dialect_name, const Bytes& version) {
  dialect_versions_[dialect(dialect_name)] = version;
}

std::uint64_t TestFile::string_attribute(const std::string& text) {
  return attribute("builtin", number(2) + number(string(text)));
}

std::uint64_t TestFile::symbol_reference(const std::string& text) {
  return attribute("builtin", number(4) + number(string_attribute(text)));
}

std::uint64_t TestFile::array(const std::vector<std::uint64_t>& items) {
  return attribute("builtin", number(0) + numbers(items));
}

std::uint64_t TestFile::dictionary(
    const std::vector<std::pair<std::string, std::uint64_t>>& items) {
  std::vector<Bytes> encoded;
  for (const auto& [key, value] : items) {
    encoded.push_back(number(string_attribute(key)) + number(value));
  }
  return attribute("builtin", number(1) + list(encoded));
}

std::uint64_t TestFile::location() { return attribute("builtin", number(15)); }

void TestFile::body(const std::vector<TestOp>& ops,
                    const std::vector<std::pair<std::string, std::uint64_t>>& attributes) {
  std::uint64_t values = 0;
  for (const TestOp& op : ops) values += op.results.size();
  TestOp module{.name = op("builtin", "module"), .isolated = true};
  if (!attributes.empty()) module.dictionary = dictionary(attributes);
  module.regions.push_back({.values = values, .blocks = {{.ops = ops}}});
  root(module);
}

Bytes TestFile::encode(const TestOp& op) const {
  const unsigned mask = (op.dictionary ? 0x01U : 0U) | (op.results.empty() ? 0U : 0x02U) |
                        (op.operands.empty() ? 0U : 0x04U) | (op.successors.empty() ? 0U : 0x08U) |
                        (op.regions.empty() ? 0U : 0x10U) | (op.use_lists.empty() ? 0U : 0x20U) |
                        (op.properties ? 0x40U : 0U);
  Bytes bytes = number(op.name) + byte(mask) + number(op.location);
  if (op.dictionary) bytes += number(*op.dictionary);
  if (op.properties) bytes += number(*op.properties);
  if (!op.results.empty()) bytes += numbers(op.results);
  if (!op.operands.empty()) bytes += numbers(op.operands);
  if (!op.successors.empty()) bytes += numbers(op.successors);
  bytes += op.use_lists;
  if (op.regions.empty()) return bytes;
  bytes += number(op.regions.size() << 1 | (op.isolated ? 1 : 0));
  Bytes regions;
  for (const TestRegion& region : op.regions) regions += encode(region);
  return bytes + (op.isolated && version_ >= 2 ? framed_section(4, regions) : regions);
}

Bytes TestFile::encode(const TestBlock& block) const {
  const bool has_arguments = !block.arguments.empty();
  Bytes bytes = number(block.ops.size() << 1 | (has_arguments ? 1 : 0));
  if (has_arguments) {
    bytes += number(block.arguments.size());
    for (const TestBlock::Argument& argument : block.arguments) {
      if (version_ < 4) {
        bytes += number(argument.type) + number(argument.location.value_or(0));
      } else {
        bytes += number(argument.type << 1 | (argument.location ? 1 : 0));
        if (argument.location) bytes += number(*argument.location);
      }
    }
    if (version_ >= 3) bytes += byte(block.use_lists.empty() ? 0 : 0x20) + block.use_lists;
  }
  for (const TestOp& op : block.ops) bytes += encode(op);
  return bytes;
}

Bytes TestFile::encode(const TestRegion& region) const {
  Bytes bytes = number(region.blocks.size());
  if (!region.blocks.empty()) bytes += number(region.values);
  for (const TestBlock& block : region.blocks) bytes += encode(block);
  return bytes;
}

Bytes TestFile::finish() const {
  Bytes file = "ML\xefR" + number(version_) + producer + '\0';
  for (const int id : section_order) {
    if (id == 8 && version_ < 5 && !replaced_.contains(8)) continue;
    const auto replaced = replaced_.find(id);
    file += framed_section(id, replaced == replaced_.end() ? section(id) : replaced->second);
  }
  return file;
}

}  // namespace precast::program::bytecode
