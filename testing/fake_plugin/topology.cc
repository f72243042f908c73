#include "testing/fake_plugin/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "testing/fake_plugin/members.h"

namespace precast::fake {
namespace {

template <typename T>
const T& item(const std::vector<T>& list, int index) {
  return list[std::min(static_cast<std::size_t>(index), list.size() - 1)];
}

PJRT_NamedValue named_value(const Attribute& attribute) {
  PJRT_NamedValue value{};
  value.struct_size = pjrt::kStructSize<PJRT_NamedValue>;
  value.name = attribute.name.data();
  value.name_size = attribute.name.size();
  value.value_size = 1;
  if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    value.type = PJRT_NamedValue_kString;
    value.string_value = text->data();
    value.value_size = text->size();
  } else if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) {
    value.type = PJRT_NamedValue_kInt64;
    value.int64_value = *integer;
  } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
    value.type = PJRT_NamedValue_kInt64List;
    value.int64_array_value = list->data();
    value.value_size = list->size();
  } else if (const auto* real = std::get_if<float>(&attribute.value)) {
    value.type = PJRT_NamedValue_kFloat;
    value.float_value = *real;
  } else {
    value.type = PJRT_NamedValue_kBool;
    value.bool_value = std::get<bool>(attribute.value);
  }
  return value;
}

}  // namespace

NamedValues::NamedValues(std::vector<Attribute> attributes) : attributes_(std::move(attributes)) {
  for (const Attribute& attribute : attributes_) values_.push_back(named_value(attribute));
}

void fill_topology(const Config& config, PJRT_TopologyDescription& topology) {
  topology.platform_name = config.platform_name;
  topology.platform_version = config.platform_version;
  std::map<int, int> devices_of_process;
  std::vector<int> process_indices;
  for (int i = 0; i < config.device_count; ++i) {
    std::vector<Attribute> attributes;
    if (!config.device_attributes.empty()) attributes = item(config.device_attributes, i);
    auto description = std::make_unique<PJRT_DeviceDescription>(std::move(attributes));
    // Ids are global and must differ, so this list is not repeated but continued.
    const auto given = config.device_ids.size();
    description->id = static_cast<std::size_t>(i) < given
                          ? config.device_ids[static_cast<std::size_t>(i)]
                      : given > 0 ? config.device_ids.back() + i + 1 - static_cast<int>(given)
                                  : i;
    description->process_index =
        config.process_indices.empty() ? config.process_index : item(config.process_indices, i);
    description->kind = item(config.device_kinds, i);
    description->to_string = fmt::format("FakeDevice(id={})", description->id);
    description->debug_string =
        fmt::format("FakeDevice(id={}, process={}, kind={})", description->id,
                    description->process_index, description->kind);
    process_indices.push_back(description->process_index);
    topology.local_ids.push_back(devices_of_process[description->process_index]++);
    topology.handles.push_back(description.get());
    topology.descriptions.push_back(std::move(description));
  }
  topology.serialized = encode_topology(config, process_indices, topology.local_ids);
}

void topology_platform_name(PJRT_TopologyDescription_PlatformName_Args& args) {
  args.platform_name = args.topology->platform_name.data();
  args.platform_name_size = args.topology->platform_name.size();
}

void topology_platform_version(PJRT_TopologyDescription_PlatformVersion_Args& args) {
  args.platform_version = args.topology->platform_version.data();
  args.platform_version_size = args.topology->platform_version.size();
}

void topology_descriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args& args) {
  args.descriptions = args.topology->handles.data();
  args.num_descriptions = args.topology->handles.size();
}

void topology_serialize(PJRT_TopologyDescription_Serialize_Args& args) {
  args.serialized_topology =
      hand_out(args.topology->serialized, &args.serialized_bytes, &args.serialized_bytes_size,
               &args.serialized_topology_deleter);
}

void topology_attributes(PJRT_TopologyDescription_Attributes_Args& args) {
  args.attributes = nullptr;
  args.num_attributes = 0;
}

void topology_fingerprint(PJRT_TopologyDescription_Fingerprint_Args& args) {
  args.fingerprint = checksum(args.topology->serialized);
}

}  // namespace precast::fake
