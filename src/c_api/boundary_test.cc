#include "c_api/boundary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <stdexcept>

namespace precast::c_api {
namespace {

using ::testing::HasSubstr;

// What a body does, seen from C.
struct Seen {
  int32_t code = 0;
  std::unique_ptr<precast_error, void (*)(precast_error*)> error{nullptr, &precast_error_free};
};

template <typename Body>
Seen run(Body body) {
  Seen seen;
  precast_error* error = reinterpret_cast<precast_error*>(1);
  seen.code = guarded(&error, body);
  seen.error.reset(error);
  return seen;
}

TEST(Guarded, SuccessClearsTheError) {
  const Seen seen = run([]() -> Result<void> { return {}; });
  EXPECT_EQ(seen.code, PRECAST_OK);
  EXPECT_EQ(seen.error, nullptr);
}

TEST(Guarded, AnErrorKeepsCodeTextAndFrames) {
  const Seen seen =
      run([]() -> Result<void> { return Error::from_plugin(3, "no such op").with("program 'x'"); });
  EXPECT_EQ(seen.code, PRECAST_PLUGIN_ERROR);
  ASSERT_NE(seen.error, nullptr);
  EXPECT_EQ(precast_error_code(seen.error.get()), PRECAST_PLUGIN_ERROR);
  EXPECT_EQ(precast_error_plugin_code(seen.error.get()), 3);
  EXPECT_STREQ(precast_error_message(seen.error.get()), "no such op");
  EXPECT_STREQ(precast_error_text(seen.error.get()),
               "plugin_error (INVALID_ARGUMENT): no such op (program 'x')");
}

TEST(Guarded, NoExceptionLeaves) {
  const Seen memory = run([]() -> Result<void> { throw std::bad_alloc(); });
  EXPECT_EQ(memory.code, PRECAST_RESOURCE_EXHAUSTED);
  EXPECT_STREQ(precast_error_message(memory.error.get()), "there is not enough memory");
  const Seen known = run([]() -> Result<void> { throw std::runtime_error("surprise"); });
  EXPECT_EQ(known.code, PRECAST_INTERNAL);
  EXPECT_STREQ(precast_error_message(known.error.get()), "surprise");
  const Seen unknown = run([]() -> Result<void> { throw 1; });
  EXPECT_EQ(unknown.code, PRECAST_INTERNAL);
  EXPECT_THAT(precast_error_message(unknown.error.get()), HasSubstr("unknown type"));
}

TEST(Guarded, TheCallerNeedNotWantTheError) {
  EXPECT_EQ(guarded(nullptr, []() -> Result<void> { return Error(ErrorCode::corrupt, "damaged"); }),
            PRECAST_CORRUPT);
}

TEST(Checks, NameWhatIsWrong) {
  EXPECT_TRUE(check_array(nullptr, 0, "inputs"));
  const auto array = check_array(nullptr, 3, "inputs");
  ASSERT_FALSE(array);
  EXPECT_EQ(array.error().message(), "the array 'inputs' of 3 elements is null");
  EXPECT_TRUE(check_index(1, 2, "device"));
  const auto index = check_index(2, 2, "device");
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error().message(), "there is no device 2: there are 2");
  EXPECT_EQ(text_of(nullptr), "");
}

TEST(Checks, AReturnedHandleIsNullFirst) {
  auto* handle = reinterpret_cast<precast_plugin*>(1);
  EXPECT_TRUE(check_output(&handle, "plugin"));
  EXPECT_EQ(handle, nullptr);
  const auto missing = check_output(static_cast<precast_plugin**>(nullptr), "plugin");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message(), "the pointer 'plugin' is null");
}

TEST(Codes, HaveNames) {
  EXPECT_STREQ(precast_code_name(PRECAST_OK), "ok");
  EXPECT_STREQ(precast_code_name(PRECAST_INVALID_ARGUMENT), "invalid_argument");
  EXPECT_STREQ(precast_code_name(PRECAST_INTERNAL), "internal");
  EXPECT_STREQ(precast_code_name(-1), "unknown");
  EXPECT_STREQ(precast_code_name(PRECAST_INTERNAL + 1), "unknown");
}

TEST(Errors, NullIsNoError) {
  EXPECT_EQ(precast_error_code(nullptr), PRECAST_OK);
  EXPECT_EQ(precast_error_plugin_code(nullptr), 0);
  EXPECT_STREQ(precast_error_text(nullptr), "");
  EXPECT_STREQ(precast_error_message(nullptr), "");
  precast_error_free(nullptr);
}

}  // namespace
}  // namespace precast::c_api
