#include "interpose/origins.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

namespace precast::interpose {
namespace {

Origin bytes(const char* text) {
  return std::make_shared<const LoadedFrom>(LoadedFrom{text, {}, {}});
}

TEST(Origins, KnowAHandleUntilItIsRemoved) {
  Origins origins;
  const int handle = 0;
  EXPECT_EQ(origins.find(&handle), nullptr);
  origins.add(&handle, bytes("first"));
  EXPECT_EQ(origins.find(&handle)->artifact, "first");
  // A plugin may hand the address out again.
  origins.add(&handle, bytes("second"));
  EXPECT_EQ(origins.find(&handle)->artifact, "second");
  EXPECT_EQ(origins.size(), 1U);
  origins.remove(&handle);
  origins.remove(&handle);
  EXPECT_EQ(origins.find(&handle), nullptr);
  EXPECT_EQ(origins.size(), 0U);
}

TEST(Origins, OfManyThreadsDoNotMix) {
  Origins origins;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&origins, i] {
      const std::string text = std::to_string(i);
      std::array<char, 64> handles{};
      for (int round = 0; round < 50; ++round) {
        for (const char& handle : handles) origins.add(&handle, bytes(text.c_str()));
        for (const char& handle : handles) EXPECT_EQ(origins.find(&handle)->artifact, text);
        for (const char& handle : handles) origins.remove(&handle);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(origins.size(), 0U);
}

}  // namespace
}  // namespace precast::interpose
