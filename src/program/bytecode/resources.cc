#include <fmt/format.h>

#include "precast/limits.h"
#include "program/bytecode/tables.h"

namespace precast::program::bytecode {
namespace {

struct ResourceReader {
  const Container& container;
  Tables& tables;
  Cursor sizes = container.open(Section::resource_sizes);
  Cursor content = container.open(Section::resources);

  BytesView string() {
    const std::uint64_t index = sizes.index(tables.strings.size());
    return sizes.failed() ? BytesView() : tables.strings[index];
  }

  Result<void> group(BytesView name, bool external) {
    const std::uint64_t count = sizes.count();
    if (count > limits::kMaxBytecodeEntries - tables.resources.size()) {
      return Error(
          ErrorCode::resource_exhausted,
          fmt::format("the bytecode has more than {} resources", limits::kMaxBytecodeEntries));
    }
    for (std::uint64_t i = 0; i < count && !sizes.failed(); ++i) {
      Resource resource{.group = name, .external = external};
      resource.key = string();
      PRECAST_TRY(check_name(resource.key, "the key of a resource"));
      const std::uint64_t size = sizes.varint();
      const std::uint8_t kind = sizes.byte();
      if (kind > static_cast<std::uint8_t>(ResourceKind::string)) {
        sizes.fail("a resource is of no known kind");
      }
      resource.kind = static_cast<ResourceKind>(kind);
      resource.content = content.bytes(size);
      tables.resources.push_back(resource);
    }
    PRECAST_TRY(sizes.check("the sizes of resources"));
    return content.check("the resource section");
  }

  Result<void> external_group() {
    const BytesView name = string();
    PRECAST_TRY(check_name(name, "the key of a resource group"));
    return group(name, /*external=*/true);
  }
};

}  // namespace

ResourceBlob read_blob(Cursor& in) {
  ResourceBlob blob;
  blob.alignment = in.varint();
  const std::uint64_t size = in.varint();
  in.align(blob.alignment);
  blob.bytes = in.bytes(size);
  return blob;
}

Result<void> read_resources(const Container& container, Tables& tables) {
  if (!container.has(Section::resource_sizes)) return {};
  ResourceReader reader{.container = container, .tables = tables};
  if (reader.sizes.at_end()) return reader.content.check_end("the resource section");
  const std::uint64_t external_groups = reader.sizes.count();
  for (std::uint64_t i = 0; i < external_groups; ++i) {
    PRECAST_TRY(reader.external_group());
  }
  tables.external_resources = tables.resources.size();
  while (!reader.sizes.at_end()) {
    const std::uint64_t dialect = reader.sizes.index(tables.dialects.size());
    PRECAST_TRY(reader.sizes.check("the sizes of resources"));
    PRECAST_TRY(reader.group(tables.dialects[dialect].name, /*external=*/false));
  }
  PRECAST_TRY(reader.sizes.check("the sizes of resources"));
  return reader.content.check_end("the resource section");
}

}  // namespace precast::program::bytecode
