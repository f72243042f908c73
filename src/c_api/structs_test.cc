#include "c_api/structs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

// A struct as it could be after two releases, and as its first release had it.
struct example_now {
  std::size_t struct_size;
  std::int64_t first;
  std::int64_t added;
};
struct example_then {
  std::size_t struct_size;
  std::int64_t first;
};

namespace precast::c_api {

template <>
struct FirstVersion<example_now> {
  static constexpr const char* kName = "example";
  static constexpr std::size_t kBytes = 16;
};

namespace {

using ::testing::HasSubstr;

const example_now* as_now(const void* given) { return static_cast<const example_now*>(given); }

TEST(ReadStruct, TakesWhatTheCallerHas) {
  const example_now now{sizeof(example_now), 1, 2};
  const auto read = read_struct(&now);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->first, 1);
  EXPECT_EQ(read->added, 2);
}

TEST(ReadStruct, WhatAnOlderCallerLacksIsZero) {
  // The bytes behind the older struct belong to somebody else.
  std::array<std::byte, sizeof(example_now)> memory;
  memory.fill(std::byte{0xff});
  const example_then then{sizeof(example_then), 7};
  std::memcpy(memory.data(), &then, sizeof(then));
  const auto read = read_struct(as_now(memory.data()));
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->first, 7);
  EXPECT_EQ(read->added, 0);
}

TEST(ReadStruct, ANewerCallerMayNotSetWhatIsUnknown) {
  struct {
    example_now known{sizeof(example_now) + 8, 1, 2};
    std::int64_t unknown = 0;
  } newer;
  EXPECT_TRUE(read_struct(&newer.known));
  newer.unknown = 1;
  const auto read = read_struct(&newer.known);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(read.error().message(), HasSubstr("example has 32 bytes"));
}

TEST(ReadStruct, RefusesSizesThatCannotBe) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{15}, kMaxStructBytes + 1}) {
    const example_now given{size, 1, 2};
    const auto read = read_struct(&given);
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code(), ErrorCode::invalid_argument);
    EXPECT_THAT(read.error().message(),
                HasSubstr("example.struct_size is " + std::to_string(size)));
  }
}

TEST(ReadStruct, RefusesNull) {
  const auto read = read_struct(static_cast<const example_now*>(nullptr));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message(), "the pointer to example is null");
}

TEST(ReadStruct, NeedsNoAlignment) {
  alignas(8) std::array<char, sizeof(example_now) + 1> memory{};
  const example_now now{sizeof(example_now), 5, 6};
  std::memcpy(memory.data() + 1, &now, sizeof(now));
  const auto read = read_struct(as_now(memory.data() + 1));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->added, 6);
}

TEST(WriteStruct, LeavesWhatAnOlderCallerLacks) {
  struct {
    example_then then{sizeof(example_then), 0};
    std::int64_t neighbour = -1;
  } older;
  void* const out = &older.then;
  ASSERT_TRUE(write_struct(example_now{0, 3, 4}, static_cast<example_now*>(out)));
  EXPECT_EQ(older.then.struct_size, sizeof(example_then));
  EXPECT_EQ(older.then.first, 3);
  EXPECT_EQ(older.neighbour, -1);
}

TEST(WriteStruct, ClearsWhatANewerCallerHas) {
  struct {
    example_now known{sizeof(example_now) + 8, 0, 0};
    std::int64_t unknown = -1;
  } newer;
  ASSERT_TRUE(write_struct(example_now{0, 3, 4}, &newer.known));
  EXPECT_EQ(newer.known.struct_size, sizeof(example_now) + 8);
  EXPECT_EQ(newer.known.added, 4);
  EXPECT_EQ(newer.unknown, 0);
}

TEST(WriteStruct, RefusesASmallerStructThanTheFirst) {
  example_now out{8, -1, -1};
  const auto written = write_struct(example_now{0, 3, 4}, &out);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(out.first, -1);
}

// A struct whose last member is followed by padding could grow without growing.
template <typename T, typename Member>
constexpr bool ends_with(Member T::* member) {
  const T object{};
  const auto* const begin = reinterpret_cast<const char*>(&object);
  const auto* const end = reinterpret_cast<const char*>(&(object.*member)) + sizeof(Member);
  return end - begin == sizeof(T);
}

TEST(Structs, EndWithoutPadding) {
  EXPECT_TRUE(ends_with(&precast_plugin_facts::api_minor));
  EXPECT_TRUE(ends_with(&precast_client_facts::cpu_count));
  EXPECT_TRUE(ends_with(&precast_device::addressable));
  EXPECT_TRUE(ends_with(&precast_cache_config::command));
  EXPECT_TRUE(ends_with(&precast_request::reserved));
  EXPECT_TRUE(ends_with(&precast_load_request::reserved));
  EXPECT_TRUE(ends_with(&precast_report_facts::root));
  EXPECT_TRUE(ends_with(&precast_phase::ms));
  EXPECT_TRUE(ends_with(&precast_executable_facts::reserved));
  EXPECT_TRUE(ends_with(&precast_tensor_spec::donation));
  EXPECT_TRUE(ends_with(&precast_tensor::reserved));
  EXPECT_TRUE(ends_with(&precast_run_options::reserved));
  EXPECT_TRUE(ends_with(&precast_outputs_facts::fetch_ms));
}

}  // namespace
}  // namespace precast::c_api
