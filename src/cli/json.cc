#include "cli/json.h"

#include <cmath>
#include <map>

#include "cli/text.h"

namespace precast::cli {
namespace {

std::string hex_of(BytesView bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    text.push_back(kDigits[static_cast<unsigned char>(c) & 15]);
  }
  return text;
}

}  // namespace

std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of_bytes(BytesView bytes, std::size_t max_bytes) {
  if (bytes.size() > max_bytes) {
    return {{"bytes", bytes.size()}, {"sha256", Digest::of(bytes).hex()}};
  }
  if (is_plain_text(bytes)) return {{"value", std::string(bytes)}};
  return {{"value_hex", hex_of(bytes)}};
}

Json json_of(const NamedValue::Value& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

Json json_of(const std::vector<NamedValue>& values) {
  Json object = Json::object();
  for (const NamedValue& value : values) object[value.name] = json_of(value.value);
  return object;
}

Json json_of(const std::vector<Phase>& phases, double total_ms) {
  Json object = Json::object();
  std::map<std::string, double> sums;  // a phase may come twice
  for (const Phase& phase : phases) {
    object[phase.name] = rounded_ms(sums[phase.name] += phase.ms);
  }
  object["total"] = rounded_ms(total_ms);
  return object;
}

Json json_of(const TensorType& type) {
  return {{"type", to_string(type.element)}, {"shape", type.dimensions}};
}

Json json_of(const TensorSpec& spec, bool parameter) {
  Json object = json_of(spec.type);
  object["minor_to_major"] = spec.minor_to_major;
  if (spec.has_tiles) object["has_tiles"] = true;
  if (!spec.memory_kind.empty()) object["memory_kind"] = spec.memory_kind;
  if (!spec.sharding.empty()) object["sharding_hex"] = hex_of(spec.sharding);
  if (parameter) object["donation"] = to_string(spec.donation);
  return object;
}

Json json_of(const ProgramSignature& signature) {
  Json object = {
      {"name", signature.name}, {"parameters", Json::array()}, {"results", Json::array()}};
  for (const TensorSpec& spec : signature.parameters) {
    object["parameters"].push_back(json_of(spec, true));
  }
  for (const TensorSpec& spec : signature.results) {
    object["results"].push_back(json_of(spec, false));
  }
  return object;
}

Json json_of(const MemoryStats& stats) {
  return {{"generated_code", stats.generated_code},
          {"arguments", stats.arguments},
          {"outputs", stats.outputs},
          {"aliased", stats.aliased},
          {"temporaries", stats.temporaries},
          {"peak", stats.peak}};
}

Json json_of(const PluginCapabilities& capabilities) {
  return {{"serialize", capabilities.serialize},
          {"deserialize_and_load", capabilities.deserialize_and_load},
          {"override_compile_options", capabilities.override_compile_options},
          {"get_compile_options", capabilities.get_compile_options},
          {"optimized_program", capabilities.optimized_program},
          {"topology", capabilities.topology},
          {"topology_fingerprint", capabilities.topology_fingerprint},
          {"memory_kinds_of_parameters", capabilities.memory_kinds_of_parameters},
          {"cost_analysis", capabilities.cost_analysis},
          {"extensions", capabilities.extensions},
          {"short_extensions", capabilities.short_extensions}};
}

Json json_of(const Device& device) {
  return {{"id", device.id},
          {"kind", device.kind},
          {"addressable", device.addressable},
          {"process_index", device.process_index},
          {"local_hardware_id", device.local_hardware_id},
          {"memory_kinds", device.memory_kinds}};
}

Json json_of(const Error& error) {
  Json object = {{"code", to_string(error.code())}, {"message", error.message()}};
  if (error.plugin_code() != 0) {
    object["plugin_code"] = pjrt_code_name(error.plugin_code());
  }
  object["frames"] = error.frames();
  return object;
}

double rounded_ms(double ms) { return std::round(ms * 1000) / 1000; }

std::string digest_text(const Digest& digest) { return "sha256:" + digest.hex(); }

}  // namespace precast::cli
