#include "pjrt/named_values.h"

#include <string>
#include <utility>
#include <variant>

namespace precast::pjrt {
namespace {

void point_to(PJRT_NamedValue& abi, const NamedValue::Value& value) {
  abi.value_size = 1;
  if (const auto* text = std::get_if<std::string>(&value)) {
    abi.type = PJRT_NamedValue_kString;
    abi.string_value = text->data();
    abi.value_size = text->size();
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    abi.type = PJRT_NamedValue_kInt64;
    abi.int64_value = *integer;
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
    abi.type = PJRT_NamedValue_kInt64List;
    abi.int64_array_value = integers->data();
    abi.value_size = integers->size();
  } else if (const auto* number = std::get_if<float>(&value)) {
    abi.type = PJRT_NamedValue_kFloat;
    abi.float_value = *number;
  } else {
    abi.type = PJRT_NamedValue_kBool;
    abi.bool_value = std::get<bool>(value);
  }
}

NamedValue::Value value_of(const PJRT_NamedValue& abi) {
  switch (abi.type) {
    case PJRT_NamedValue_kString:
      return abi.string_value == nullptr ? std::string()
                                         : std::string(abi.string_value, abi.value_size);
    case PJRT_NamedValue_kInt64: return abi.int64_value;
    case PJRT_NamedValue_kInt64List:
      if (abi.int64_array_value == nullptr) return std::vector<std::int64_t>();
      return std::vector<std::int64_t>(abi.int64_array_value,
                                       abi.int64_array_value + abi.value_size);
    case PJRT_NamedValue_kFloat: return abi.float_value;
    case PJRT_NamedValue_kBool: return abi.bool_value;
  }
  return "type<" + std::to_string(static_cast<int>(abi.type)) + ">";
}

}  // namespace

std::vector<PJRT_NamedValue> to_abi(const std::vector<NamedValue>& values) {
  std::vector<PJRT_NamedValue> result;
  result.reserve(values.size());
  for (const NamedValue& value : values) {
    PJRT_NamedValue abi{};
    abi.struct_size = kStructSize<PJRT_NamedValue>;
    abi.name = value.name.data();
    abi.name_size = value.name.size();
    point_to(abi, value.value);
    result.push_back(abi);
  }
  return result;
}

std::vector<NamedValue> from_abi(const PJRT_NamedValue* values, std::size_t count) {
  std::vector<NamedValue> result;
  if (values == nullptr) return result;
  result.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const PJRT_NamedValue& abi = values[i];
    std::string name = abi.name == nullptr ? std::string() : std::string(abi.name, abi.name_size);
    result.push_back({std::move(name), value_of(abi)});
  }
  return result;
}

}  // namespace precast::pjrt
