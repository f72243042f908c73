#include "interpose/settings.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <system_error>

namespace precast::interpose {
namespace {

class Reader {
 public:
  Reader(const std::function<const char*(const char*)>& variable, Settings& settings)
      : variable_(variable), settings_(settings) {}

  std::string text(const char* name) const {
    const char* value = variable_(name);
    return value == nullptr ? std::string() : std::string(value);
  }

  // As PRECAST_DISABLE is read everywhere: anything but nothing and "0" is yes.
  bool flag(const char* name) const {
    const std::string value = text(name);
    return !value.empty() && value != "0";
  }

  void complain(const char* name, const std::string& value, std::string_view wanted) {
    settings_.complaints.push_back(
        fmt::format("{} is '{}', and it may be {}; it counts as not set", name, value, wanted));
  }

 private:
  const std::function<const char*(const char*)>& variable_;
  Settings& settings_;
};

void read_log(Reader& reader, Settings& settings) {
  constexpr const char* kName = "PRECAST_LOG";
  const std::string value = reader.text(kName);
  if (value == "off") {
    settings.log = std::nullopt;
  } else if (value == "info") {
    settings.log = LogLevel::info;
  } else if (value == "debug") {
    settings.log = LogLevel::debug;
  } else if (!value.empty() && value != "warn") {
    reader.complain(kName, value, "off, warn, info or debug");
  }
}

void read_policy(Reader& reader, Settings& settings) {
  constexpr const char* kName = "PRECAST_POLICY";
  const std::string value = reader.text(kName);
  // Not offline: a host that cannot compile has no executable, and no error of its plugin either.
  for (const Policy policy : {Policy::read_write, Policy::read_only, Policy::refresh}) {
    if (value != to_string(policy)) continue;
    settings.policy = policy;
    return;
  }
  if (!value.empty()) reader.complain(kName, value, "read-write, read-only or refresh");
}

void read_number(Reader& reader, const char* name, std::string_view unit, double& number) {
  const std::string value = reader.text(name);
  if (value.empty()) return;
  double read = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
  if (error != std::errc{} || end != value.data() + value.size() || !(read >= 0)) {
    reader.complain(name, value, fmt::format("a number of {}", unit));
    return;
  }
  number = read;
}

}  // namespace

Settings read_settings(const std::function<const char*(const char*)>& variable) {
  Settings settings;
  Reader reader(variable, settings);
  settings.plugin = reader.text("PRECAST_PJRT_PLUGIN");
  settings.disabled = reader.flag("PRECAST_DISABLE");
  settings.summary = reader.flag("PRECAST_SUMMARY");
  settings.label = reader.text("PRECAST_LABEL");
  read_log(reader, settings);
  read_policy(reader, settings);
  read_number(reader, "PRECAST_MIN_COMPILE_MS", "milliseconds", settings.min_compile_ms);
  read_number(reader, "PRECAST_WAIT_LIMIT_S", "seconds", settings.wait_limit_s);
  return settings;
}

}  // namespace precast::interpose
