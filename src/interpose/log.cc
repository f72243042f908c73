#include "interpose/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>

namespace precast::interpose {
namespace {

constexpr int kNothing = static_cast<int>(LogLevel::warn) + 1;

std::atomic<int> least_said = static_cast<int>(LogLevel::warn);

}  // namespace

void set_log_level(std::optional<LogLevel> least) {
  least_said = least ? static_cast<int>(*least) : kNothing;
}

bool says(LogLevel level) { return static_cast<int>(level) >= least_said; }

void say(LogLevel level, std::string_view text) {
  if (says(level)) say_always(text);
}

void say_always(std::string_view text) {
  std::string line = "[precast] ";
  line += text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  // A host that closed its standard error does not hear it.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace precast::interpose
