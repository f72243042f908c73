#include <iterator>

#include "artifact/message_fields.h"
#include "artifact/messages.h"
#include "precast/limits.h"

namespace precast::artifact {
namespace {

// Field numbers are positions in these lists, from 1: append only.
constexpr std::int64_t MemoryStats::* kMemoryFields[] = {
    &MemoryStats::generated_code, &MemoryStats::arguments,   &MemoryStats::outputs,
    &MemoryStats::aliased,        &MemoryStats::temporaries, &MemoryStats::peak,
};

constexpr std::uint32_t kCostItem = 1;
constexpr std::uint32_t kCostName = 1;
constexpr std::uint32_t kCostValue = 2;

constexpr std::uint32_t kCreated = 1;
constexpr std::uint32_t kCompileMs = 2;
constexpr std::uint32_t kFirstText = 3;
// Field numbers from kFirstText: append only.
constexpr std::string Provenance::* kTextFields[] = {
    &Provenance::host,     &Provenance::precast_version,  &Provenance::plugin_path,
    &Provenance::platform, &Provenance::platform_version, &Provenance::api_version,
    &Provenance::label,    &Provenance::program_name,
};

Result<CostItem> decode_cost_item(BytesView bytes) {
  CostItem item;
  const auto on_field = [&](const WireField& field) -> Result<void> {
    switch (field.number) {
      case kCostName: return read(field, item.name);
      case kCostValue: return read(field, item.value);
      default: return {};
    }
  };
  PRECAST_TRY(for_each_field(bytes, on_field));
  return item;
}

}  // namespace

Bytes encode_memory_stats(const MemoryStats& stats) {
  Bytes out;
  std::uint32_t number = 0;
  for (const auto member : kMemoryFields) put(out, ++number, stats.*member);
  return out;
}

Result<MemoryStats> decode_memory_stats(BytesView bytes) {
  MemoryStats stats;
  const auto on_field = [&](const WireField& field) -> Result<void> {
    if (field.number > std::size(kMemoryFields)) return {};
    return read(field, stats.*kMemoryFields[field.number - 1]);
  };
  PRECAST_TRY(for_each_field(bytes, on_field));
  return stats;
}

Bytes encode_cost_analysis(const std::vector<CostItem>& items) {
  Bytes out;
  for (const CostItem& item : items) {
    Bytes message;
    put(message, kCostName, BytesView(item.name));
    put(message, kCostValue, item.value);
    base::append_bytes(out, kCostItem, message);
  }
  return out;
}

Result<std::vector<CostItem>> decode_cost_analysis(BytesView bytes) {
  std::vector<CostItem> items;
  const auto on_field = [&](const WireField& field) -> Result<void> {
    if (field.number != kCostItem) return {};
    PRECAST_TRY(expect(field, WireType::bytes));
    if (items.size() == limits::kMaxCostItems) {
      return malformed("more cost items than the limit of " +
                       std::to_string(limits::kMaxCostItems));
    }
    PRECAST_ASSIGN(CostItem item, decode_cost_item(field.bytes));
    items.push_back(std::move(item));
    return {};
  };
  PRECAST_TRY(for_each_field(bytes, on_field));
  return items;
}

Bytes encode_provenance(const Provenance& provenance) {
  Bytes out;
  put(out, kCreated, provenance.created_unix_s);
  put(out, kCompileMs, provenance.compile_ms);
  std::uint32_t number = kFirstText;
  for (const auto member : kTextFields) put(out, number++, BytesView(provenance.*member));
  return out;
}

Result<Provenance> decode_provenance(BytesView bytes) {
  Provenance provenance;
  const auto on_field = [&](const WireField& field) -> Result<void> {
    if (field.number == kCreated) return read(field, provenance.created_unix_s);
    if (field.number == kCompileMs) return read(field, provenance.compile_ms);
    if (field.number - kFirstText >= std::size(kTextFields)) return {};
    return read(field, provenance.*kTextFields[field.number - kFirstText]);
  };
  PRECAST_TRY(for_each_field(bytes, on_field));
  return provenance;
}

}  // namespace precast::artifact
