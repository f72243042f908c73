#include "precast/error.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <string>

#include "precast/result.h"

namespace precast {
namespace {

TEST(Error, EveryCodeHasANameOfItsOwnAndItsPersistedNumber) {
  constexpr std::array<std::pair<ErrorCode, std::string_view>, 12> kCodes = {{
      {ErrorCode::invalid_argument, "invalid_argument"},
      {ErrorCode::unsupported, "unsupported"},
      {ErrorCode::incompatible, "incompatible"},
      {ErrorCode::corrupt, "corrupt"},
      {ErrorCode::untrusted, "untrusted"},
      {ErrorCode::unavailable, "unavailable"},
      {ErrorCode::deadline_exceeded, "deadline_exceeded"},
      {ErrorCode::permission_denied, "permission_denied"},
      {ErrorCode::resource_exhausted, "resource_exhausted"},
      {ErrorCode::io_error, "io_error"},
      {ErrorCode::plugin_error, "plugin_error"},
      {ErrorCode::internal, "internal"},
  }};
  for (std::size_t i = 0; i < kCodes.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kCodes[i].first), i + 1);
    EXPECT_EQ(to_string(kCodes[i].first), kCodes[i].second);
  }
  EXPECT_EQ(to_string(static_cast<ErrorCode>(99)), "unknown");
}

TEST(Error, TextHasCodeMessageAndFramesInnermostFirst) {
  EXPECT_EQ(Error(ErrorCode::corrupt, "bad magic").to_string(), "corrupt: bad magic");
  const Error error =
      Error(ErrorCode::io_error, "no space").with("while writing 'a'").with("while publishing");
  EXPECT_EQ(error.to_string(), "io_error: no space (while writing 'a'; while publishing)");
  EXPECT_EQ(error.frames().size(), 2u);
  EXPECT_EQ(error.plugin_code(), 0);
}

TEST(Error, APluginErrorKeepsCodeAndWholeMessage) {
  const Error error = Error::from_plugin(3, "line one\nline two");
  EXPECT_EQ(error.code(), ErrorCode::plugin_error);
  EXPECT_EQ(error.plugin_code(), 3);
  EXPECT_EQ(error.message(), "line one\nline two");
  EXPECT_EQ(error.to_string(), "plugin_error (INVALID_ARGUMENT): line one\nline two");
}

TEST(Error, PjrtCodesHaveAbslNames) {
  EXPECT_EQ(pjrt_code_name(0), "OK");
  EXPECT_EQ(pjrt_code_name(5), "NOT_FOUND");
  EXPECT_EQ(pjrt_code_name(12), "UNIMPLEMENTED");
  EXPECT_EQ(pjrt_code_name(13), "INTERNAL");
  EXPECT_EQ(pjrt_code_name(16), "UNAUTHENTICATED");
  EXPECT_EQ(pjrt_code_name(17), "CODE_17");
  EXPECT_EQ(pjrt_code_name(-1), "CODE_-1");
  std::set<std::string> names;
  for (int code = 0; code <= 16; ++code) names.insert(pjrt_code_name(code));
  EXPECT_EQ(names.size(), 17u);
}

Result<int> half(int value) {
  if (value % 2 != 0) return Error(ErrorCode::invalid_argument, "odd");
  return value / 2;
}

Result<std::string> quarter_text(int value) {
  PRECAST_ASSIGN(const int once, half(value));
  PRECAST_ASSIGN(const int twice, half(once));
  return std::to_string(twice);
}

Result<void> check(int value) {
  PRECAST_TRY(half(value));
  return {};
}

TEST(Result, MacrosPassValuesOnAndReturnErrors) {
  EXPECT_EQ(quarter_text(12).value(), "3");
  EXPECT_EQ(quarter_text(6).error().message(), "odd");
  EXPECT_EQ(quarter_text(5).error().code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(check(2));
  EXPECT_FALSE(check(1));
}

TEST(Result, FallbackAndFramesDoNotTouchAValue) {
  EXPECT_EQ(half(3).value_or(7), 7);
  EXPECT_EQ(half(4).value_or(7), 2);
  EXPECT_EQ(half(4).with("unused").value(), 2);
  EXPECT_EQ(half(3).with("while halving").error().to_string(),
            "invalid_argument: odd (while halving)");
  EXPECT_EQ(check(3).with("while checking").error().frames().size(), 1u);
}

TEST(Result, HoldsWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(4);
  ASSERT_TRUE(result);
  const std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 4);
}

}  // namespace
}  // namespace precast
