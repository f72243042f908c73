// Sets or removes an environment variable and puts back what was there before.
//
//   EnvGuard faults("PRECAST_FAKE_FAULT", "PJRT_Client_Compile:INTERNAL:out of luck");
//   EnvGuard none("HOME", std::nullopt);
//
// setenv is not thread-safe: no other thread may read the environment meanwhile.
#pragma once

#include <stdlib.h>

#include <optional>
#include <string>
#include <utility>

namespace precast::testing {

class EnvGuard {
 public:
  EnvGuard(std::string name, const std::optional<std::string>& value) : name_(std::move(name)) {
    if (const char* before = ::getenv(name_.c_str())) before_ = before;
    set(value);
  }
  EnvGuard(const EnvGuard&) = delete;
  EnvGuard& operator=(const EnvGuard&) = delete;
  ~EnvGuard() { set(before_); }

 private:
  void set(const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace precast::testing
