#include "pjrt/call.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "pjrt/functions.h"
#include "pjrt/handles.h"
#include "precast/limits.h"

namespace precast::pjrt {
namespace {

// A plugin of a few functions in this binary. The functions are plain C, so what they do and see is
// kept in one place.
struct Seen {
  PJRT_Error* next_error = nullptr;  // what the next call of a failing function gives
  std::size_t struct_size = 0;
  bool spare_was_zero = false;
  std::vector<const void*> destroyed;
  std::vector<const void*> awaited;
  bool code_fails = false;
};
Seen seen;

// Handles are pointers that nobody follows.
template <typename T>
T* handle(std::size_t number) {
  return reinterpret_cast<T*>(number * 16);
}

PJRT_Error* process_index(PJRT_Client_ProcessIndex_Args* args) {
  seen.struct_size = args->struct_size;
  const auto* bytes = reinterpret_cast<const unsigned char*>(args);
  seen.spare_was_zero = true;
  for (std::size_t i = kStructSize<PJRT_Client_ProcessIndex_Args>; i < args->struct_size; ++i) {
    seen.spare_was_zero = seen.spare_was_zero && bytes[i] == 0;
  }
  args->process_index = 7;
  return seen.next_error;
}

void error_message(PJRT_Error_Message_Args* args) {
  args->message = "out of\nluck";
  args->message_size = 11;
}
PJRT_Error* error_code(PJRT_Error_GetCode_Args* args) {
  if (seen.code_fails) return handle<PJRT_Error>(99);
  args->code = PJRT_Error_Code_RESOURCE_EXHAUSTED;
  return nullptr;
}
void error_destroy(PJRT_Error_Destroy_Args* args) { seen.destroyed.push_back(args->error); }

PJRT_Error* event_await(PJRT_Event_Await_Args* args) {
  seen.awaited.push_back(args->event);
  return args->event == handle<PJRT_Event>(2) ? handle<PJRT_Error>(50) : nullptr;
}
PJRT_Error* event_destroy(PJRT_Event_Destroy_Args* args) {
  seen.destroyed.push_back(args->event);
  return nullptr;
}
PJRT_Error* buffer_destroy(PJRT_Buffer_Destroy_Args* args) {
  seen.destroyed.push_back(args->buffer);
  return seen.next_error;
}

class CallTest : public ::testing::Test {
 protected:
  CallTest() {
    seen = Seen{};
    table_.struct_size = sizeof table_;
    table_.pjrt_api_version.minor_version = 81;
    table_.PJRT_Error_Message = error_message;
    table_.PJRT_Error_GetCode = error_code;
    table_.PJRT_Error_Destroy = error_destroy;
    table_.PJRT_Client_ProcessIndex = process_index;
    table_.PJRT_Event_Await = event_await;
    table_.PJRT_Event_Destroy = event_destroy;
    table_.PJRT_Buffer_Destroy = buffer_destroy;
  }

  PJRT_Api table_{};
  Api api_{&table_};
};

TEST_F(CallTest, GivesTheResult) {
  Block<PJRT_Client_ProcessIndex_Args> args;
  ASSERT_TRUE(api_.call(kClientProcessIndex, args));
  EXPECT_EQ(args->process_index, 7);
}

TEST_F(CallTest, OffersAZeroedBlockWithSpareBytes) {
  Block<PJRT_Client_ProcessIndex_Args> args;
  ASSERT_TRUE(api_.call(kClientProcessIndex, args));
  EXPECT_GE(seen.struct_size, kStructSize<PJRT_Client_ProcessIndex_Args> + limits::kPjrtSpareBytes);
  EXPECT_LE(seen.struct_size, sizeof args);
  EXPECT_TRUE(seen.spare_was_zero);
}

TEST_F(CallTest, TurnsAnErrorIntoOursAndDestroysIt) {
  seen.next_error = handle<PJRT_Error>(1);
  Block<PJRT_Client_ProcessIndex_Args> args;
  const auto called = api_.call(kClientProcessIndex, args);
  ASSERT_FALSE(called);
  EXPECT_EQ(called.error().code(), ErrorCode::plugin_error);
  EXPECT_EQ(called.error().plugin_code(), PJRT_Error_Code_RESOURCE_EXHAUSTED);
  EXPECT_EQ(called.error().message(), "out of\nluck");
  EXPECT_EQ(called.error().frames(), std::vector<std::string>{"in PJRT_Client_ProcessIndex"});
  EXPECT_EQ(seen.destroyed, std::vector<const void*>{handle<PJRT_Error>(1)});
}

TEST_F(CallTest, ManagesWithoutAnyErrorFunction) {
  table_.PJRT_Error_Message = nullptr;
  table_.PJRT_Error_GetCode = nullptr;
  table_.PJRT_Error_Destroy = nullptr;
  const Error error = api_.take_error(handle<PJRT_Error>(1));
  EXPECT_EQ(error.code(), ErrorCode::plugin_error);
  EXPECT_EQ(error.plugin_code(), PJRT_Error_Code_UNKNOWN);
  EXPECT_FALSE(error.message().empty());
}

TEST_F(CallTest, DestroysAlsoTheErrorOfAskingForTheCode) {
  seen.code_fails = true;
  const Error error = api_.take_error(handle<PJRT_Error>(1));
  EXPECT_EQ(error.plugin_code(), PJRT_Error_Code_UNKNOWN);
  const std::vector<const void*> both = {handle<PJRT_Error>(99), handle<PJRT_Error>(1)};
  EXPECT_EQ(seen.destroyed, both);
}

TEST_F(CallTest, NamesAFunctionThatIsNull) {
  Block<PJRT_Client_Devices_Args> args;
  const auto called = api_.call(kClientDevices, args);
  ASSERT_FALSE(called);
  EXPECT_EQ(called.error().code(), ErrorCode::unsupported);
  EXPECT_NE(called.error().message().find("0.81"), std::string::npos);
  EXPECT_NE(called.error().message().find("PJRT_Client_Devices"), std::string::npos);
}

TEST_F(CallTest, LooksAtTheSizeOfTheTable) {
  // The pointer is there in our memory, but the table says that it ends before, or inside, it.
  const std::size_t end = offsetof(PJRT_Api, PJRT_Client_ProcessIndex) + sizeof(void*);
  table_.struct_size = end;
  EXPECT_TRUE(api_.has(kClientProcessIndex));
  for (const std::size_t size : {end - 1, end - 4, end - 8}) {
    table_.struct_size = size;
    EXPECT_FALSE(api_.has(kClientProcessIndex)) << size;
  }
  Block<PJRT_Client_ProcessIndex_Args> args;
  EXPECT_FALSE(api_.call(kClientProcessIndex, args));
  EXPECT_EQ(seen.struct_size, 0U) << "it was called";
}

TEST_F(CallTest, HandlesAreDestroyedOnce) {
  {
    Handle<PJRT_Buffer> first = own(api_, handle<PJRT_Buffer>(3));
    const Handle<PJRT_Buffer> second = std::move(first);
    const Handle<PJRT_Buffer> none = own<PJRT_Buffer>(api_, nullptr);
  }
  EXPECT_EQ(seen.destroyed, std::vector<const void*>{handle<PJRT_Buffer>(3)});
}

TEST_F(CallTest, AnErrorOfADestructorIsDestroyedToo) {
  seen.next_error = handle<PJRT_Error>(4);
  own(api_, handle<PJRT_Buffer>(3)).reset();
  const std::vector<const void*> both = {handle<PJRT_Buffer>(3), handle<PJRT_Error>(4)};
  EXPECT_EQ(seen.destroyed, both);
}

TEST_F(CallTest, AllEventsAreAwaitedAndTheFirstFailureIsGiven) {
  PendingEvents pending(api_);
  pending.add(handle<PJRT_Event>(1));
  pending.add(nullptr);
  pending.add(handle<PJRT_Event>(2));  // fails
  pending.add(handle<PJRT_Event>(3));
  const auto awaited = pending.await();
  ASSERT_FALSE(awaited);
  EXPECT_EQ(awaited.error().message(), "out of\nluck");
  const std::vector<const void*> all = {handle<PJRT_Event>(1), handle<PJRT_Event>(2),
                                        handle<PJRT_Event>(3)};
  EXPECT_EQ(seen.awaited, all);
  EXPECT_TRUE(pending.await()) << "there is nothing left to wait for";
  EXPECT_EQ(seen.awaited, all);
}

TEST_F(CallTest, PendingEventsAreAwaitedBeforeTheyGo) {
  {
    PendingEvents(api_).add(handle<PJRT_Event>(1));
  }
  EXPECT_EQ(seen.awaited, std::vector<const void*>{handle<PJRT_Event>(1)});
  EXPECT_EQ(seen.destroyed, std::vector<const void*>{handle<PJRT_Event>(1)});
}

TEST(IsLacking, MeansAbsentOrUnimplemented) {
  EXPECT_TRUE(is_lacking(Error(ErrorCode::unsupported, "")));
  EXPECT_TRUE(is_lacking(Error::from_plugin(PJRT_Error_Code_UNIMPLEMENTED, "")));
  EXPECT_FALSE(is_lacking(Error::from_plugin(PJRT_Error_Code_INTERNAL, "")));
  EXPECT_FALSE(is_lacking(Error(ErrorCode::internal, "")));
}

int deletions = 0;

TEST(TakeBytes, CopiesAndEndsTheLoan) {
  deletions = 0;
  auto* owner = handle<PJRT_SerializedExecutable>(5);
  const auto deleter = +[](PJRT_SerializedExecutable*) { ++deletions; };
  EXPECT_EQ(take_bytes("abc", 2, owner, deleter), "ab");
  EXPECT_EQ(deletions, 1);
  // A plugin may lend nothing, or bytes that need no end.
  EXPECT_EQ(take_bytes<PJRT_SerializedExecutable>(nullptr, 0, nullptr, deleter), "");
  EXPECT_EQ(take_bytes<PJRT_SerializedExecutable>("abc", 3, owner, nullptr), "abc");
  EXPECT_EQ(deletions, 1);
}

}  // namespace
}  // namespace precast::pjrt
