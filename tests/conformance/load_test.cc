// Serializing, and loading on the same and on other devices.
#include <memory>
#include <optional>

#include "pjrt/internal.h"
#include "tests/conformance/fixture.h"
#include "tests/conformance/programs.h"

namespace precast::conformance {
namespace {

class LoadConformance : public Conformance {
 protected:
  static Bytes serialized(const std::string& text, const std::vector<std::int64_t>& ids) {
    const auto executable = compiled(text, ids);
    if (!executable) return {};
    auto bytes = executable->serialize();
    EXPECT_TRUE(bytes) << bytes.error().to_string();
    return bytes ? *bytes : Bytes();
  }
  static Result<LoadedExecutable> load(BytesView bytes, const std::vector<std::int64_t>& ids) {
    return pjrt::deserialize_and_load(client(), bytes, replicas_on(ids).serialized());
  }
};

TEST_F(LoadConformance, OnTheSameDeviceGivesTheSame) {
  const std::int64_t id = device_ids().front();
  const auto executable = compiled(kAddOne, {id});
  ASSERT_TRUE(executable);
  const auto bytes = executable->serialize();
  PRECAST_ASSERT_OK(bytes);
  const auto loaded = load(*bytes, {id});
  PRECAST_ASSERT_OK(loaded);
  EXPECT_EQ(loaded->name(), executable->name());
  EXPECT_EQ(loaded->device_ids(), executable->device_ids());
  EXPECT_EQ(loaded->result_count(), executable->result_count());
  const auto compiled_outputs = executable->run({matrix(0), matrix(10)});
  const auto loaded_outputs = loaded->run({matrix(0), matrix(10)});
  PRECAST_ASSERT_OK(compiled_outputs);
  PRECAST_ASSERT_OK(loaded_outputs);
  EXPECT_EQ(loaded_outputs->at(0).at(0).data, compiled_outputs->at(0).at(0).data);
  EXPECT_EQ(loaded_outputs->at(0).at(1).data, compiled_outputs->at(0).at(1).data);
}

TEST_F(LoadConformance, OnOtherDevices) {
  const std::vector<std::int64_t> ids = device_ids();
  if (ids.size() < 4) GTEST_SKIP() << "the client has fewer than four devices";
  const Bytes bytes = serialized(kAddOne, {ids[0], ids[1]});
  for (const std::vector<std::int64_t>& place :
       {std::vector<std::int64_t>{ids[2], ids[3]}, {ids[3], ids[2]}, {ids[1], ids[3]}}) {
    const auto loaded = load(bytes, place);
    PRECAST_ASSERT_OK(loaded);
    EXPECT_EQ(loaded->device_ids(), place);
    EXPECT_EQ(loaded->replicas(), 2);
    const auto outputs = loaded->run({matrix(0), matrix(10)});
    PRECAST_ASSERT_OK(outputs);
    ASSERT_EQ(outputs->size(), 2U);
    for (const auto& of_device : *outputs) {
      EXPECT_EQ(of_device.at(0).data, matrix(1).data);
      EXPECT_EQ(of_device.at(1).data, matrix(11).data);
    }
  }
}

TEST_F(LoadConformance, DonationIsKept) {
  const Bytes bytes = serialized(kDonating, {device_ids().front()});
  const auto loaded = load(bytes, {device_ids().back()});
  PRECAST_ASSERT_OK(loaded);
  const auto buffer = client().to_device(tensor<std::int32_t>(ElementType::s32, {4}, {1, 2, 3, 4}),
                                         device_ids().back());
  PRECAST_ASSERT_OK(buffer);
  const auto outputs = loaded->execute({{&*buffer}});
  PRECAST_ASSERT_OK(outputs);
  EXPECT_TRUE(buffer->is_deleted());
}

TEST_F(LoadConformance, DevicesThatAreNotThereAreRefusedBeforeTheCall) {
  const std::vector<std::int64_t> ids = device_ids();
  const Bytes bytes = serialized(kAddOne, {ids.front()});
  for (const std::vector<std::int64_t>& place :
       {std::vector<std::int64_t>{ids.back() + 1}, {ids[0], ids[0]}}) {
    const auto loaded = load(bytes, place);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code(), ErrorCode::invalid_argument);
  }
}

TEST_F(LoadConformance, OptionsThatWouldEndTheProcessAreRefusedBeforeTheCall) {
  const Bytes bytes = serialized(kAddOne, {device_ids().front()});
  for (const BytesView options : {BytesView(), BytesView("\x1a\x02\x20\x01", 4)}) {
    const auto loaded = pjrt::deserialize_and_load(client(), bytes, options);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code(), ErrorCode::invalid_argument);
  }
}

TEST_F(LoadConformance, BytesCutShortAreAnError) {
  // The cache never hands such bytes to a plugin; if it did, an error and not a crash.
  const Bytes bytes = serialized(kAddOne, {device_ids().front()});
  for (const std::size_t size : {bytes.size() / 2, bytes.size() - 1}) {
    const auto loaded = load(BytesView(bytes).substr(0, size), {device_ids().front()});
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code(), ErrorCode::plugin_error);
  }
}

TEST_F(LoadConformance, ExecutablesAndBuffersKeepTheirClient) {
  std::optional<LoadedExecutable> executable;
  std::optional<Buffer> buffer;
  {
    auto other = plugin().create_client({});
    PRECAST_ASSERT_OK(other);
    const std::int64_t id = other->devices().front().id;
    auto made = other->compile(program(kDonating), replicas_on({id}));
    PRECAST_ASSERT_OK(made);
    executable = *made;
    auto sent = other->to_device(tensor<std::int32_t>(ElementType::s32, {4}, {1, 2, 3, 4}), id);
    PRECAST_ASSERT_OK(sent);
    buffer = std::move(*sent);
  }
  auto outputs = executable->execute({{&*buffer}});
  PRECAST_ASSERT_OK(outputs);
  executable.reset();
  buffer.reset();
  const auto host = outputs->at(0).at(0).to_host();  // the last that holds the client
  PRECAST_ASSERT_OK(host);
  EXPECT_EQ(values_of<std::int32_t>(*host), (std::vector<std::int32_t>{2, 3, 4, 5}));
}

}  // namespace
}  // namespace precast::conformance
