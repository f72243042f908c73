// JSON of what the library gives. docs/cli.md documents every object.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "precast/precast.h"

namespace precast::cli {

// Keeps the order of keys, so that people can read it too.
using Json = nlohmann::ordered_json;

// One line; what is not UTF-8 is replaced, never refused.
std::string json_text(const Json& json);

// {"value": "..."} for text, {"value_hex": "..."} for other bytes; beyond `max_bytes` only
// {"bytes": n, "sha256": "..."}.
Json json_of_bytes(BytesView bytes, std::size_t max_bytes);

Json json_of(const NamedValue::Value& value);
// An object by name.
Json json_of(const std::vector<NamedValue>& values);
// Milliseconds by phase, with "total", which is more than their sum.
Json json_of(const std::vector<Phase>& phases, double total_ms);
Json json_of(const TensorType& type);  // {"type": "f32", "shape": [4, 8]}
Json json_of(const TensorSpec& spec, bool parameter);
Json json_of(const ProgramSignature& signature);
Json json_of(const MemoryStats& stats);
Json json_of(const PluginCapabilities& capabilities);
Json json_of(const Device& device);
Json json_of(const Error& error);

// Milliseconds with three decimals: more is noise.
double rounded_ms(double ms);

// "sha256:<hex>".
std::string digest_text(const Digest& digest);

}  // namespace precast::cli
