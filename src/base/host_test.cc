#include "base/host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace precast::base {
namespace {

TEST(Host, HasTheNameThatTheKernelKnows) {
  std::array<char, 1024> name{};
  ASSERT_EQ(::gethostname(name.data(), name.size() - 1), 0);
  EXPECT_EQ(host_name(), std::string(name.data()).substr(0, 255));
}

TEST(Host, SecondsAreThoseOfTheSystemClock) {
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  EXPECT_NEAR(static_cast<double>(unix_seconds()), static_cast<double>(now), 2);
}

}  // namespace
}  // namespace precast::base
