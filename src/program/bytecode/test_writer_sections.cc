#include <algorithm>
#include <stdexcept>

#include "program/bytecode/test_writer.h"

namespace precast::program::bytecode {

std::uint64_t TestFile::known_string(const std::string& text) const {
  const auto at = std::ranges::find(strings_, text);
  if (at == strings_.end()) throw std::logic_error("no string '" + text + "'");
  return static_cast<std::uint64_t>(at - strings_.begin());
}

Bytes TestFile::section(int id) const {
  Bytes content;
  switch (id) {
    case 0: return string_section();
    case 1: return dialect_section();
    case 2:
      for (const Entry& entry : attributes_) content += entry.bytes;
      for (const Entry& entry : types_) content += entry.bytes;
      return content;
    case 3: return size_section();
    case 4: return ir_;
    case 5:
      for (const auto& [group, resources] : external_resources_) {
        for (const Resource& resource : resources) content += resource.bytes;
      }
      for (const auto& [dialect, resource] : resources_) content += resource.bytes;
      return content;
    case 6: return resource_sizes();
    case 8: {
      content = number(properties_.size());
      for (const Bytes& bytes : properties_) content += blob(bytes);
      return content;
    }
    default: return content;
  }
}

Bytes TestFile::string_section() const {
  Bytes content = number(strings_.size());
  for (auto at = strings_.rbegin(); at != strings_.rend(); ++at) {
    content += number(at->size() + 1);
  }
  for (const std::string& text : strings_) content += text + '\0';
  return content;
}

Bytes TestFile::dialect_section() const {
  Bytes content = number(dialects_.size());
  for (std::size_t i = 0; i < dialects_.size(); ++i) {
    const std::uint64_t name = known_string(dialects_[i]);
    const auto found = dialect_versions_.find(i);
    const bool has_version = found != dialect_versions_.end();
    content += version_ >= 1 ? number(name << 1 | (has_version ? 1 : 0)) : number(name);
    if (has_version) content += byte(7) + blob(found->second);
  }
  if (version_ >= 4) content += number(ops_.size());
  for (const Name& op : ops_) {
    const std::uint64_t name = known_string(op.name);
    content += number(op.dialect) + number(1);
    content += version_ >= 5 ? number(name << 1 | (op.registered ? 1 : 0)) : number(name);
  }
  return content;
}

Bytes TestFile::size_section() const {
  Bytes content = number(attributes_.size()) + number(types_.size());
  for (const auto* entries : {&attributes_, &types_}) {
    for (const Entry& entry : *entries) {
      content += number(entry.dialect) + number(1) +
                 number(entry.bytes.size() << 1 | (entry.encoded ? 1 : 0));
    }
  }
  return content;
}

Bytes TestFile::resource_sizes() const {
  const auto describe = [this](const Resource& resource) {
    return number(known_string(resource.key)) + number(resource.bytes.size()) + byte(resource.kind);
  };
  Bytes content = number(external_resources_.size());
  for (const auto& [group, resources] : external_resources_) {
    content += number(known_string(group)) + number(resources.size());
    for (const Resource& resource : resources) content += describe(resource);
  }
  for (const auto& [dialect, resource] : resources_) {
    content += number(dialect) + number(1) + describe(resource);
  }
  return content;
}

}  // namespace precast::program::bytecode
