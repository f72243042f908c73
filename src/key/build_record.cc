#include "key/build_record.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <type_traits>

#include "base/hash.h"
#include "proto/file_options.h"
#include "proto/flags_parse.h"
#include "proto/xla_options.h"
#include "topology/cpu_features.h"

namespace precast::key {
namespace {

KeyItem number(std::string name, std::int64_t value) {
  return {std::move(name), std::to_string(value)};
}

Bytes float_text(float value) {
  // The shortest text that reads back as the same number; it would not tell one NaN from another.
  if (std::isnan(value)) return "nan:" + std::to_string(std::bit_cast<std::uint32_t>(value));
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

// The type stands before the value: the plugin tells the text "4" from the number 4.
Bytes typed_text(const NamedValue::Value& value) {
  struct Text {
    Bytes operator()(const std::string& text) const { return "string:" + text; }
    Bytes operator()(std::int64_t n) const { return "int64:" + std::to_string(n); }
    Bytes operator()(float n) const { return "float:" + float_text(n); }
    Bytes operator()(bool b) const { return b ? "bool:true" : "bool:false"; }
    Bytes operator()(const std::vector<std::int64_t>& list) const {
      Bytes text = "int64s:";
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (i != 0) text += ',';
        text += std::to_string(list[i]);
      }
      return text;
    }
  };
  return std::visit(Text{}, value);
}

// Items by name. Those of one name keep the order in which they were added, since the last or the
// first of them may count: a multimap adds behind its equals.
using SortedItems = std::multimap<std::string, Bytes>;

void append(KeyField& field, SortedItems items) {
  for (auto& [name, value] : items) field.items.push_back({name, std::move(value)});
}

KeyField schema_field() {
  return {"schema",
          {number("key", kKeySchemaVersion), number("options", kCanonicalOptionsVersion),
           number("flags", kFlagsVersion), number("client_options", kNeutralClientOptionsVersion),
           number("environment", kEnvironmentVersion), number("placement", kPlacementVersion),
           number("cpu_features", kCpuFeaturesVersion),
           number("custom_calls", program::kCustomCallRulesVersion),
           number("neutral_options", proto::kNeutralOptionsVersion),
           number("file_options", proto::kFileOptionsVersion),
           number("flag_rules", proto::kFlagRulesVersion),
           number("baselines", topology::kBaselinesVersion)}};
}

KeyField items_field(std::string name, const std::vector<proto::OptionItem>& items) {
  KeyField field{std::move(name), {}};
  field.items.reserve(items.size());
  for (const proto::OptionItem& item : items) field.items.push_back({item.name, item.value});
  return field;
}

// A flag's item begins with dashes, so none is taken for the variable.
KeyField flags_field(const Flags& flags) {
  KeyField field = items_field("flags", flags.xla);
  if (!flags.libtpu_init_args.empty()) {
    field.items.push_back({"LIBTPU_INIT_ARGS", flags.libtpu_init_args});
  }
  return field;
}

KeyField client_options_field(std::string_view platform, const std::vector<NamedValue>& options) {
  SortedItems items;
  for (const NamedValue& option : options) {
    if (is_neutral_client_option(platform, option.name)) continue;
    items.emplace(option.name, typed_text(option.value));
  }
  KeyField field{"client_options", {}};
  append(field, std::move(items));
  return field;
}

KeyField environment_field(std::string_view platform,
                           const std::vector<std::pair<std::string, std::string>>& variables) {
  const std::vector<std::string_view> names = environment_names(platform);
  SortedItems items;
  for (const auto& [name, value] : variables) {
    if (std::find(names.begin(), names.end(), name) != names.end()) items.emplace(name, value);
  }
  KeyField field{"environment", {}};
  append(field, std::move(items));
  return field;
}

KeyField plugin_field(const PluginIdentity& plugin) {
  KeyField field{"plugin",
                 {{"platform", plugin.platform},
                  {"platform_version", plugin.platform_version},
                  {"sha256", plugin.sha256.hex()},
                  {"api_version", plugin.api_version.to_string()}}};
  SortedItems attributes;
  for (const NamedValue& attribute : plugin.attributes) {
    attributes.emplace("attribute." + attribute.name, typed_text(attribute.value));
  }
  append(field, std::move(attributes));
  SortedItems parts;
  for (const auto& [name, value] : plugin.parts) parts.emplace("part." + name, value);
  append(field, std::move(parts));
  return field;
}

// One item per fact and position, so that a difference names both. A device's own coordinates stand
// behind ".at.": no name that a plugin gives them can take the place of a fact.
KeyField placement_field(const topology::Placement& placement) {
  KeyField field{
      "placement",
      {number("replicas", placement.replicas), number("partitions", placement.partitions)}};
  for (std::size_t i = 0; i < placement.positions.size(); ++i) {
    const topology::PlacedDevice& device = placement.positions[i];
    const std::string position = std::to_string(i);
    field.items.push_back({position + ".kind", device.kind});
    field.items.push_back(number(position + ".process", device.process));
    if (device.id) field.items.push_back(number(position + ".id", *device.id));
    for (const auto& [name, value] : device.coordinates) {
      field.items.push_back({position + ".at." + name, value});
    }
  }
  return field;
}

KeyField cpu_field(const std::optional<HostCpu>& cpu) {
  if (!cpu) return {"cpu", {{"none", ""}}};
  if (!cpu->baseline.empty()) {
    return {"cpu",
            {{"architecture", Bytes(topology::architecture_of(cpu->target.triple))},
             {"baseline", cpu->baseline}}};
  }
  KeyField field{
      "cpu",
      {{"triple", cpu->target.triple}, {"name", cpu->target.name}, number("count", cpu->count)}};
  const std::vector<std::string> features = topology::isa_features(cpu->target.features);
  field.items.reserve(field.items.size() + features.size());
  for (const std::string& feature : features) {
    // isa_features writes a sign before every name.
    Bytes name = "feature.";
    name.append(feature, 1);
    field.items.push_back({std::move(name), Bytes(1, feature.front())});
  }
  return field;
}

// The names of extras stand behind a prefix, so that none takes the place of another item.
KeyField extra_field(const KeyInputs& inputs) {
  KeyField field{"extra", {{"salt", inputs.salt}}};
  if (!inputs.annotations.empty()) {
    field.items.push_back({"annotations", "sha256:" + base::sha256(inputs.annotations).hex() +
                                              ", " + std::to_string(inputs.annotations.size()) +
                                              " bytes"});
  }
  SortedItems extras;
  for (const auto& [name, value] : inputs.extras) extras.emplace("extra." + name, value);
  append(field, std::move(extras));
  return field;
}

}  // namespace

KeyField program_field(const program::ProgramDigest& program) {
  KeyField field{"program",
                 {{"mode", Bytes(program::to_string(program.mode))},
                  {"format", Bytes(to_string(program.format))},
                  {"sha256", program.sha256.hex()},
                  {"rules", std::to_string(program.rules)}}};
  // A program whose structure was read may be larger or smaller by its debug info.
  if (program.mode == program::DigestMode::raw) {
    field.items.push_back({"bytes", std::to_string(program.bytes)});
    field.items.push_back({"raw_because", program.raw_reason});
  }
  return field;
}

KeyRecord build_record(const KeyInputs& inputs) {
  const std::string& platform = inputs.plugin.platform;
  std::vector<KeyField> fields;
  fields.push_back(schema_field());
  fields.push_back(program_field(inputs.program));
  fields.push_back(items_field("options", inputs.options));
  fields.push_back(flags_field(inputs.flags));
  fields.push_back(client_options_field(platform, inputs.client_options));
  fields.push_back(environment_field(platform, inputs.environment));
  fields.push_back(plugin_field(inputs.plugin));
  fields.push_back(placement_field(inputs.placement));
  fields.push_back(cpu_field(inputs.cpu));
  fields.push_back(extra_field(inputs));
  return KeyRecord(std::move(fields));
}

std::optional<KeyRecord> without_profile(const KeyRecord& record) {
  std::vector<KeyField> fields = record.fields();
  std::size_t removed = 0;
  for (KeyField& field : fields) {
    if (field.name != "options") continue;
    removed += std::erase_if(field.items, [](const KeyItem& item) {
      return item.name == "executable_build_options.fdo_profile";
    });
  }
  if (removed == 0) return std::nullopt;
  return KeyRecord(std::move(fields));
}

}  // namespace precast::key
