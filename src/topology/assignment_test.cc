#include "topology/assignment.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "precast/limits.h"

namespace precast::topology {
namespace {

std::vector<DeviceFacts> devices(std::initializer_list<std::int64_t> ids) {
  std::vector<DeviceFacts> all;
  for (const std::int64_t id : ids) all.push_back({id, "cpu", 0, true, {}});
  return all;
}

// The message of the error, "" when there is none.
std::string refusal(const Result<void>& result) {
  if (result) return "";
  EXPECT_EQ(result.error().code(), ErrorCode::invalid_argument);
  return result.error().message();
}

TEST(ValidateCounts, AcceptsWhatFits) {
  EXPECT_EQ(refusal(validate_counts(1, 1, 1)), "");
  EXPECT_EQ(refusal(validate_counts(2, 2, 4)), "");
  EXPECT_EQ(refusal(validate_counts(1, 4, 8)), "");
}

TEST(ValidateCounts, SaysWhatIsNeededAndWhatThereIs) {
  EXPECT_EQ(refusal(validate_counts(4, 2, 4)),
            "4 replicas x 2 partitions need 8 devices, the client has 4");
  EXPECT_EQ(refusal(validate_counts(1, 1, 0)),
            "1 replica x 1 partition need 1 device, the client has 0");
}

TEST(ValidateCounts, RefusesCountsThatNoMachineHas) {
  constexpr int kMax = std::numeric_limits<int>::max();
  EXPECT_NE(refusal(validate_counts(0, 1, 4)), "");
  EXPECT_NE(refusal(validate_counts(1, 0, 4)), "");
  EXPECT_NE(refusal(validate_counts(-1, -1, 4)), "");
  EXPECT_NE(refusal(validate_counts(kMax, kMax, 4)).find("limit of 1048576"), std::string::npos);
  EXPECT_NE(refusal(validate_counts(1 << 16, 1 << 16, std::size_t{1} << 40)).find("limit"),
            std::string::npos);
}

TEST(Validate, AcceptsAnyOrderOfIdsThatExist) {
  EXPECT_EQ(refusal(validate({1, 2, {3, 0}}, devices({0, 1, 2, 3}))), "");
  EXPECT_EQ(refusal(validate({2, 2, {7, 5, 1, -4}}, devices({1, 5, 7, -4}))), "");
}

TEST(Validate, NamesTheIdThatDoesNotExistAndThoseThatDo) {
  EXPECT_EQ(refusal(validate({1, 2, {0, 9}}, devices({3, 1, 0, 2}))),
            "the client has no device with id 9; its ids are 0, 1, 2, 3");
  std::vector<DeviceFacts> many;
  for (int id = 0; id < 20; ++id) many.push_back({id, "cpu", 0, true, {}});
  EXPECT_NE(refusal(validate({1, 1, {99}}, many)).find("14, 15, and 4 more"), std::string::npos);
}

TEST(Validate, RefusesAnIdTwice) {
  EXPECT_NE(refusal(validate({1, 2, {1, 1}}, devices({0, 1}))).find("device id 1 stands twice"),
            std::string::npos);
}

TEST(Validate, RefusesAnotherNumberOfIdsThanPositions) {
  EXPECT_EQ(refusal(validate({1, 2, {0}}, devices({0, 1}))),
            "1 replica x 2 partitions need 2 device ids, not 1");
  EXPECT_NE(refusal(validate({1, 1, {0, 1}}, devices({0, 1}))), "");
  EXPECT_NE(refusal(validate({1, 1, {}}, devices({0, 1}))), "");
}

TEST(Remap, KeepsCountsAndTakesIdsByPosition) {
  const DeviceAssignment old{2, 2, {0, 1, 2, 3}};
  EXPECT_EQ(remap(old, {7, 6, 5, 4}).value(), (DeviceAssignment{2, 2, {7, 6, 5, 4}}));
  EXPECT_EQ(remap(old, {0, 1, 2, 3}).value(), old);
}

TEST(Remap, RefusesWhatIsNoAssignment) {
  const DeviceAssignment old{1, 2, {0, 1}};
  EXPECT_FALSE(remap(old, {0}));
  EXPECT_FALSE(remap(old, {0, 1, 2}));
  EXPECT_FALSE(remap(old, {3, 3}));
  EXPECT_FALSE(remap({0, 1, {}}, {}));
}

}  // namespace
}  // namespace precast::topology
