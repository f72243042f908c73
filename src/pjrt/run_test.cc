#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "pjrt/executable_impl.h"

namespace precast::pjrt {
namespace {

TensorSpec spec(ElementType element, std::vector<std::int64_t> dimensions) {
  TensorSpec spec;
  spec.type = {element, std::move(dimensions)};
  for (auto i = static_cast<std::int64_t>(spec.type.dimensions.size()); i-- > 0;) {
    spec.minor_to_major.push_back(i);
  }
  return spec;
}

class CheckInputsTest : public ::testing::Test {
 protected:
  CheckInputsTest() {
    signature_.emplace();
    signature_->parameters = {spec(ElementType::f32, {2, 3}), spec(ElementType::s32, {})};
  }
  Result<void> check() const { return check_inputs(signature_, inputs_); }
  void expect(ErrorCode code, const std::string& message) const {
    const auto checked = check();
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code(), code);
    EXPECT_EQ(checked.error().message(), message);
  }

  const Bytes data_ = Bytes(64, '\0');
  BytesView bytes(std::size_t count) const { return BytesView(data_).substr(0, count); }
  std::optional<ProgramSignature> signature_;
  std::vector<HostTensorView> inputs_ = {{{ElementType::f32, {2, 3}}, bytes(24)},
                                         {{ElementType::s32, {}}, bytes(4)}};
};

TEST_F(CheckInputsTest, TakesWhatFits) { EXPECT_TRUE(check()); }

TEST_F(CheckInputsTest, TakesALayoutThatIsNotRowMajor) {
  signature_->parameters[0].minor_to_major = {0, 1};
  EXPECT_TRUE(check());
}

TEST_F(CheckInputsTest, RefusesAnotherCount) {
  inputs_.pop_back();
  expect(ErrorCode::invalid_argument, "the program takes 2 inputs, but 1 were given");
  signature_->parameters.resize(1);
  inputs_.clear();
  expect(ErrorCode::invalid_argument, "the program takes 1 input, but 0 were given");
}

TEST_F(CheckInputsTest, RefusesAnotherShape) {
  inputs_[0] = {{ElementType::f32, {3, 2}}, bytes(24)};
  expect(ErrorCode::invalid_argument, "parameter 0 takes f32[2,3] but the input is f32[3,2]");
}

TEST_F(CheckInputsTest, RefusesAnotherType) {
  inputs_[1] = {{ElementType::u32, {}}, bytes(4)};
  expect(ErrorCode::invalid_argument, "parameter 1 takes s32[] but the input is u32[]");
}

TEST_F(CheckInputsTest, RefusesAnotherSize) {
  inputs_[0] = {{ElementType::f32, {2, 3}}, bytes(23)};
  expect(ErrorCode::invalid_argument, "parameter 0: f32[2,3] has 24 bytes, but the input has 23");
}

TEST_F(CheckInputsTest, RefusesATiledLayout) {
  signature_->parameters[0].has_tiles = true;
  const auto checked = check();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), ErrorCode::unsupported);
}

TEST_F(CheckInputsTest, WithoutASignatureLooksAtSizesOnly) {
  signature_.reset();
  inputs_.push_back(inputs_[0]);
  EXPECT_TRUE(check());
  inputs_[2] = {{ElementType::f32, {2, 3}}, bytes(25)};
  expect(ErrorCode::invalid_argument, "parameter 2: f32[2,3] has 24 bytes, but the input has 25");
  inputs_[2] = {{ElementType::token, {}}, bytes(0)};
  expect(ErrorCode::invalid_argument, "parameter 2: token[] has no form in host memory");
}

TEST_F(CheckInputsTest, RefusesDimensionsThatOverflow) {
  signature_.reset();
  inputs_[0] = {{ElementType::f32, {INT64_MAX, INT64_MAX}}, bytes(24)};
  EXPECT_FALSE(check());
  inputs_[0] = {{ElementType::f32, {-1}}, bytes(24)};
  EXPECT_FALSE(check());
}

}  // namespace
}  // namespace precast::pjrt
