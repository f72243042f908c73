#include "testing/fake_plugin/config.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace precast::fake {
namespace {

constexpr std::array<std::string_view, 17> kCodeNames = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

[[noreturn]] void die(const char* variable, std::string_view why) {
  fmt::print(stderr, "fake plugin: {}: {}\n", variable, why);
  std::abort();
}

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

template <typename Number>
Number number(const char* name, std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    die(name, fmt::format("'{}' is not a number", text));
  }
  return value;
}

template <typename Number>
std::vector<Number> numbers(const char* name, std::string_view text) {
  std::vector<Number> values;
  for (const std::string& part : split(text, ',')) values.push_back(number<Number>(name, part));
  return values;
}

// "name=int:2", "name=ints:1,2", "name=str:text", "name=float:0.5", "name=bool:true"
Attribute attribute(const char* variable_name, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t colon = text.find(':', equals);
  if (equals == std::string::npos || colon == std::string::npos) {
    die(variable_name, fmt::format("'{}' is not name=type:value", text));
  }
  Attribute result{text.substr(0, equals), {}};
  const std::string type = text.substr(equals + 1, colon - equals - 1);
  const std::string value = text.substr(colon + 1);
  if (type == "int") {
    result.value = number<std::int64_t>(variable_name, value);
  } else if (type == "ints") {
    result.value = numbers<std::int64_t>(variable_name, value);
  } else if (type == "str") {
    result.value = value;
  } else if (type == "float") {
    result.value = number<float>(variable_name, value);
  } else if (type == "bool" && (value == "true" || value == "false")) {
    result.value = value == "true";
  } else {
    die(variable_name, fmt::format("'{}' has no value of a known type", text));
  }
  return result;
}

std::vector<Attribute> attributes(const char* variable_name, std::string_view text) {
  std::vector<Attribute> list;
  for (const std::string& part : split(text, ';')) list.push_back(attribute(variable_name, part));
  return list;
}

// "FUNCTION:CODE:message[:nth[:sticky]]"
Fault fault(const char* variable_name, const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() < 3 || parts.size() > 5) {
    die(variable_name, fmt::format("'{}' is not FUNCTION:CODE:message[:nth[:sticky]]", text));
  }
  Fault result;
  result.function = parts[0];
  result.abort = parts[1] == "ABORT";
  if (!result.abort && !parse_error_code(parts[1], &result.code)) {
    die(variable_name, fmt::format("'{}' is no error code", parts[1]));
  }
  result.message = parts[2];
  if (parts.size() > 3) {
    result.first = number<std::uint64_t>(variable_name, parts[3]);
    result.sticky = parts.size() > 4;
    if (result.sticky && parts[4] != "sticky") {
      die(variable_name, fmt::format("'{}' is not 'sticky'", parts[4]));
    }
  }
  return result;
}

void read_api(Config& config) {
  if (const auto text = variable("PRECAST_FAKE_API_VERSION")) {
    const std::vector<std::string> parts = split(*text, '.');
    if (parts.size() != 2) die("PRECAST_FAKE_API_VERSION", "it is not MAJOR.MINOR");
    config.major = number<int>("PRECAST_FAKE_API_VERSION", parts[0]);
    config.minor = number<int>("PRECAST_FAKE_API_VERSION", parts[1]);
  }
  if (const auto text = variable("PRECAST_FAKE_STRUCT_SIZE")) {
    config.struct_size = number<std::size_t>("PRECAST_FAKE_STRUCT_SIZE", *text);
    if (config.struct_size < offsetof(PJRT_Api, PJRT_Error_Destroy)) {
      die("PRECAST_FAKE_STRUCT_SIZE", "a table holds at least its size and its version");
    }
  }
  config.null_members = split(variable("PRECAST_FAKE_NULL").value_or(""), ',');
  if (const auto text = variable("PRECAST_FAKE_ATTRIBUTES")) {
    config.attributes = attributes("PRECAST_FAKE_ATTRIBUTES", *text);
  } else {
    config.attributes = {
        {"xla_version", std::int64_t{2}},
        {"stablehlo_current_version", std::vector<std::int64_t>{1, 20, 0}},
        {"stablehlo_minimum_version", std::vector<std::int64_t>{0, 9, 0}},
    };
  }
}

void read_text(const char* name, std::string& target) {
  if (const auto text = variable(name)) target = *text;
}

void read_topology(Config& config) {
  read_text("PRECAST_FAKE_PLATFORM_NAME", config.platform_name);
  read_text("PRECAST_FAKE_PLATFORM_VERSION", config.platform_version);
  read_text("PRECAST_FAKE_TRIPLE", config.triple);
  read_text("PRECAST_FAKE_CPU", config.cpu);
  read_text("PRECAST_FAKE_CPU_FEATURES", config.features);
  if (const auto text = variable("PRECAST_FAKE_DEVICES")) {
    config.device_count = number<int>("PRECAST_FAKE_DEVICES", *text);
  }
  if (const auto text = variable("PRECAST_FAKE_PROCESS_INDEX")) {
    config.process_index = number<int>("PRECAST_FAKE_PROCESS_INDEX", *text);
  }
  if (const auto text = variable("PRECAST_FAKE_DEVICE_IDS")) {
    config.device_ids = numbers<int>("PRECAST_FAKE_DEVICE_IDS", *text);
  }
  if (const auto text = variable("PRECAST_FAKE_PROCESS_INDICES")) {
    config.process_indices = numbers<int>("PRECAST_FAKE_PROCESS_INDICES", *text);
  }
  if (const auto text = variable("PRECAST_FAKE_DEVICE_KINDS")) {
    config.device_kinds = split(*text, ',');
    if (config.device_kinds.empty()) die("PRECAST_FAKE_DEVICE_KINDS", "it names no kind");
  }
  for (const std::string& device :
       split(variable("PRECAST_FAKE_DEVICE_ATTRIBUTES").value_or(""), '|')) {
    config.device_attributes.push_back(attributes("PRECAST_FAKE_DEVICE_ATTRIBUTES", device));
  }
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool parse_error_code(std::string_view name, PJRT_Error_Code* code) {
  for (std::size_t i = 1; i < kCodeNames.size(); ++i) {
    if (kCodeNames[i] == name) {
      *code = static_cast<PJRT_Error_Code>(i);
      return true;
    }
  }
  return false;
}

Config read_config() {
  Config config;
  read_api(config);
  read_topology(config);
  return config;
}

BehaviourText read_behaviour_text() {
  return {variable("PRECAST_FAKE_FAULT").value_or(""),
          variable("PRECAST_FAKE_LATENCY").value_or(""),
          variable("PRECAST_FAKE_CHATTER").value_or(""),
          variable("PRECAST_FAKE_COUNTER").value_or(""), variable("PRECAST_FAKE_LOG").value_or("")};
}

Behaviour parse_behaviour(const BehaviourText& text) {
  Behaviour behaviour;
  for (const std::string& part : split(text.faults, ';')) {
    behaviour.faults.push_back(fault("PRECAST_FAKE_FAULT", part));
  }
  for (const std::string& part : split(text.latency, ';')) {
    const std::vector<std::string> halves = split(part, ':');
    if (halves.size() != 2) die("PRECAST_FAKE_LATENCY", "it is not FUNCTION:MILLISECONDS;\u2026");
    behaviour.latency_ms[halves[0]] = number<int>("PRECAST_FAKE_LATENCY", halves[1]);
  }
  for (const std::string& part : split(text.chatter, ';')) {
    const std::vector<std::string> halves = split(part, ':');
    if (halves.size() != 2) die("PRECAST_FAKE_CHATTER", "it is not FUNCTION:LINES;\u2026");
    behaviour.chatter_lines[halves[0]] = number<int>("PRECAST_FAKE_CHATTER", halves[1]);
  }
  behaviour.counter_path = text.counter;
  behaviour.log_path = text.log;
  return behaviour;
}

}  // namespace precast::fake
