#include <gtest/gtest.h>

#include <random>

#include "precast/limits.h"
#include "proto/executable_view.h"
#include "proto/test_messages.h"

namespace precast::proto {
namespace {

using testing::number;
using testing::packed;
using testing::text;

std::string refusal(const Bytes& bytes) {
  const auto assignment = decode_device_assignment(bytes);
  if (assignment) return "accepted";
  EXPECT_EQ(assignment.error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(assignment.error().message().rfind("xla.DeviceAssignmentProto ", 0), 0u);
  return assignment.error().message();
}

TEST(DeviceAssignmentProto, ListsDevicesByPartition) {
  // Two replicas, three partitions: the entry of a partition lists its replicas.
  const DeviceAssignment assignment{2, 3, {0, 1, 2, 10, 11, 12}};
  EXPECT_EQ(encode_device_assignment(assignment),
            number(1, 2) + number(2, 3) + text(3, packed(1, {0, 10})) +
                text(3, packed(1, {1, 11})) + text(3, packed(1, {2, 12})));
}

TEST(DeviceAssignmentProto, ReadsWhatTheCpuPluginWrites) {
  // PJRT_LoadedExecutable_GetDeviceAssignment for one replica on devices 0 and 1.
  const Bytes bytes("\x08\x01\x10\x02\x1a\x03\x0a\x01\x00\x1a\x03\x0a\x01\x01", 14);
  const DeviceAssignment assignment{1, 2, {0, 1}};
  EXPECT_EQ(decode_device_assignment(bytes).value(), assignment);
  EXPECT_EQ(encode_device_assignment(assignment), bytes);
}

TEST(DeviceAssignmentProto, GoesThereAndBack) {
  for (int replicas = 1; replicas <= 5; ++replicas) {
    for (int partitions = 1; partitions <= 5; ++partitions) {
      DeviceAssignment assignment{replicas, partitions, {}};
      for (int i = 0; i < replicas * partitions; ++i) {
        assignment.device_ids.push_back(std::int64_t{i} * 1000003 - 5);
      }
      EXPECT_EQ(decode_device_assignment(encode_device_assignment(assignment)).value(), assignment);
    }
  }
}

TEST(DeviceAssignmentProto, ReadsIdsThatAreNotPacked) {
  EXPECT_EQ(
      decode_device_assignment(number(1, 2) + number(2, 1) + text(3, number(1, 7) + number(1, 8)))
          .value(),
      (DeviceAssignment{2, 1, {7, 8}}));
}

TEST(DeviceAssignmentProto, RefusesCountsThatDoNotFit) {
  const Bytes one = text(3, packed(1, {0}));
  EXPECT_NE(refusal(""), "accepted");
  EXPECT_NE(refusal(number(1, 1) + one), "accepted");
  EXPECT_NE(refusal(number(1, 0) + number(2, 1) + one), "accepted");
  EXPECT_NE(refusal(number(1, -1) + number(2, -1) + one), "accepted");
  EXPECT_NE(refusal(number(1, 1 << 11) + number(2, 1 << 11) + one).find("at most 1048576"),
            std::string::npos);
  EXPECT_NE(refusal(number(1, 1) + number(2, 2) + one).find("1 of its 2 partitions"),
            std::string::npos);
  EXPECT_NE(refusal(number(1, 2) + number(2, 1) + one).find("1 devices for partition 0"),
            std::string::npos);
  EXPECT_NE(refusal(number(1, 1) + number(2, 1) + one + one), "accepted");
}

TEST(DeviceAssignmentProto, RefusesMoreIdsThanThereAreDevices) {
  Bytes many(limits::kMaxDevices + 1, '\0');
  EXPECT_NE(refusal(text(3, text(1, many))).find("too many device ids"), std::string::npos);
  Bytes entries;
  for (int i = 0; i < 3; ++i) entries += text(3, text(1, Bytes(limits::kMaxDevices / 2, '\0')));
  EXPECT_NE(refusal(entries).find("too many device ids"), std::string::npos);
}

TEST(DeviceAssignmentProto, RefusesDamageAtEveryLevel) {
  EXPECT_NE(refusal("\x08").find("does not parse"), std::string::npos);
  EXPECT_NE(refusal(number(1, 1) + number(2, 1) + text(3, "\x0a")).find("does not parse"),
            std::string::npos);
  EXPECT_NE(refusal(number(1, 1) + number(2, 1) + text(3, text(1, "\x80"))).find("damaged list"),
            std::string::npos);
}

TEST(DeviceAssignmentProto, RandomBytesNeverCrash) {
  std::mt19937 random(3);
  const Bytes sound =
      encode_device_assignment({4, 4, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}});
  for (int round = 0; round < 20000; ++round) {
    Bytes changed = sound.substr(0, random() % (sound.size() + 1));
    if (!changed.empty()) changed[random() % changed.size()] = static_cast<char>(random());
    const auto assignment = decode_device_assignment(changed);
    if (assignment) {
      ASSERT_EQ(assignment->device_ids.size(),
                static_cast<std::size_t>(assignment->replicas) *
                    static_cast<std::size_t>(assignment->partitions));
    }
  }
}

}  // namespace
}  // namespace precast::proto
