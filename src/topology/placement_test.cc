#include "topology/placement.h"

#include <gtest/gtest.h>

namespace precast::topology {
namespace {

DeviceFacts device(std::int64_t id, std::string kind = "cpu", int process = 0) {
  return {id, std::move(kind), process, process == 0, {}};
}

TEST(Placement, OnCpuOnlyPositionsCount) {
  const std::vector<DeviceFacts> devices = {device(0), device(1), device(2), device(3)};
  const Placement low = place("cpu", {1, 2, {0, 1}}, devices).value();
  EXPECT_EQ(low.replicas, 1);
  EXPECT_EQ(low.partitions, 2);
  ASSERT_EQ(low.positions.size(), 2u);
  EXPECT_EQ(low.positions[0], (PlacedDevice{"cpu", 0, {}, {}}));
  EXPECT_EQ(place("cpu", {1, 2, {3, 2}}, devices).value(), low);
}

TEST(Placement, IdleDevicesDoNotCount) {
  EXPECT_EQ(place("cpu", {1, 1, {0}}, {device(0)}).value(),
            place("cpu", {1, 1, {5}}, {device(0), device(4), device(5)}).value());
}

TEST(Placement, CountsAndKindsCount) {
  const std::vector<DeviceFacts> devices = {device(0), device(1, "other"), device(2)};
  const Placement base = place("cpu", {1, 2, {0, 2}}, devices).value();
  EXPECT_NE(place("cpu", {2, 1, {0, 2}}, devices).value(), base);
  EXPECT_NE(place("cpu", {1, 2, {0, 1}}, devices).value(), base);
  EXPECT_NE(place("cpu", {1, 2, {1, 0}}, devices).value(),
            place("cpu", {1, 2, {0, 1}}, devices).value());
}

TEST(Placement, ProcessesAreNumberedByFirstAppearance) {
  const std::vector<DeviceFacts> devices = {device(0, "cpu", 4), device(1, "cpu", 4),
                                            device(2, "cpu", 9), device(3, "cpu", 9)};
  const auto processes = [&](std::vector<std::int64_t> ids) {
    std::vector<int> numbers;
    const Placement placement = place("cpu", {1, 4, std::move(ids)}, devices).value();
    for (const PlacedDevice& placed : placement.positions) numbers.push_back(placed.process);
    return numbers;
  };
  EXPECT_EQ(processes({0, 1, 2, 3}), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(processes({2, 3, 0, 1}), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(processes({0, 2, 1, 3}), (std::vector<int>{0, 1, 0, 1}));
}

TEST(Placement, CudaOfOneProcessHasPositionsAndOfSeveralIds) {
  const std::vector<DeviceFacts> one = {device(0, "H200"), device(1, "H200")};
  EXPECT_EQ(place("cuda", {1, 1, {0}}, one).value(), place("cuda", {1, 1, {1}}, one).value());
  const std::vector<DeviceFacts> two = {device(0, "H200"), device(1, "H200", 1)};
  const Placement first = place("cuda", {1, 1, {0}}, two).value();
  EXPECT_EQ(first.positions[0].id, 0);
  EXPECT_NE(place("cuda", {1, 1, {1}}, two).value(), first);
}

TEST(Placement, CoordinatesStandForTheIdWhereThereAreSome) {
  std::vector<DeviceFacts> devices = {device(0, "TPU v5e"), device(1, "TPU v5e"),
                                      device(2, "TPU v5e")};
  devices[0].attributes = {
      {"slice_index", "0"}, {"name", "a"}, {"coords", "0,0,0"}, {"core_on_chip", "0"}};
  devices[1].attributes = {{"coords", "1,0,0"}, {"core_on_chip", "0"}};
  const PlacedDevice first = place("tpu", {1, 1, {0}}, devices).value().positions[0];
  EXPECT_EQ(first.id, std::nullopt);
  EXPECT_EQ(first.coordinates,
            (std::vector<std::pair<std::string, std::string>>{
                {"coords", "0,0,0"}, {"core_on_chip", "0"}, {"slice_index", "0"}}));
  EXPECT_NE(place("tpu", {1, 1, {1}}, devices).value(), place("tpu", {1, 1, {0}}, devices).value());
  EXPECT_EQ(place("tpu", {1, 1, {2}}, devices).value().positions[0].id, 2);
}

TEST(Placement, OnAnUnknownPlatformIdsCountAsTheyAre) {
  const std::vector<DeviceFacts> devices = {device(0, "x"), device(1, "x")};
  for (const char* platform : {"rocm", "neuron", "", "CPU"}) {
    EXPECT_NE(place(platform, {1, 1, {0}}, devices).value(),
              place(platform, {1, 1, {1}}, devices).value())
        << platform;
  }
}

TEST(Placement, AnAssignmentThatDoesNotFitIsRefused) {
  const auto placement = place("cpu", {1, 2, {0, 7}}, {device(0), device(1)});
  ASSERT_FALSE(placement);
  EXPECT_EQ(placement.error().code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace precast::topology
