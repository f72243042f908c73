// Programs at the edges: no elements, no dimensions, no results, very many parameters.
#include <string>

#include "tests/conformance/fixture.h"
#include "tests/conformance/programs.h"

namespace precast::conformance {
namespace {

class ShapeConformance : public Conformance {
 protected:
  static std::int64_t device() { return device_ids().front(); }
  // The outputs of one device; an error fails the test and gives none.
  static std::vector<HostTensor> run(const std::string& text,
                                     const std::vector<HostTensorView>& inputs) {
    const auto executable = compiled(text, {device()});
    if (!executable) return {};
    auto outputs = executable->run(inputs);
    if (outputs) return std::move(outputs->at(0));
    ADD_FAILURE() << outputs.error().to_string();
    return {};
  }
};

TEST_F(ShapeConformance, DimensionsOfZero) {
  const HostTensor empty = tensor<float>(ElementType::f32, {0, 3}, {});
  const auto outputs = run(R"(
// fake: params=f32[0,3] results=f32[0,3]
func.func public @main(%a: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %0 = stablehlo.add %a, %a : tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
})",
                           {empty});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].type, empty.type);
  EXPECT_TRUE(outputs[0].data.empty());
}

TEST_F(ShapeConformance, Scalars) {
  const HostTensor one = tensor<float>(ElementType::f32, {}, {1});
  const auto outputs = run(R"(
// fake: params=f32[] results=f32[]
func.func public @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %a : tensor<f32>
  return %0 : tensor<f32>
})",
                           {one});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_TRUE(outputs[0].type.dimensions.empty());
  EXPECT_EQ(values_of<float>(outputs[0]), std::vector<float>{2});
}

TEST_F(ShapeConformance, DimensionsOfOneAndHighRank) {
  const HostTensor input = tensor<float>(ElementType::f32, {2, 1, 1, 3, 1}, {1, 2, 3, 4, 5, 6});
  const auto outputs = run(R"(
// fake: params=f32[2,1,1,3,1] results=f32[2,1,1,3,1]
func.func public @main(%a: tensor<2x1x1x3x1xf32>) -> tensor<2x1x1x3x1xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<2x1x1x3x1xf32>
  %0 = stablehlo.add %a, %one : tensor<2x1x1x3x1xf32>
  return %0 : tensor<2x1x1x3x1xf32>
})",
                           {input});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].type, input.type);
  EXPECT_EQ(values_of<float>(outputs[0]), (std::vector<float>{2, 3, 4, 5, 6, 7}));
}

TEST_F(ShapeConformance, NoParameters) {
  PRECAST_SKIP_IF_LACKING("programs");
  const auto outputs = run(R"(
func.func public @main() -> tensor<2xi32> {
  %0 = stablehlo.constant dense<[4, 5]> : tensor<2xi32>
  return %0 : tensor<2xi32>
})",
                           {});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(values_of<std::int32_t>(outputs[0]), (std::vector<std::int32_t>{4, 5}));
}

TEST_F(ShapeConformance, NoResults) {
  PRECAST_SKIP_IF_LACKING("programs");
  const auto executable = compiled(R"(
func.func public @main(%a: tensor<2xi32>) {
  return
})",
                                   {device()});
  ASSERT_TRUE(executable);
  EXPECT_EQ(executable->result_count(), 0U);
  const auto outputs = executable->run({tensor<std::int32_t>(ElementType::s32, {2}, {4, 5})});
  PRECAST_ASSERT_OK(outputs);
  EXPECT_TRUE(outputs->at(0).empty());
}

TEST_F(ShapeConformance, ResultsOfManyTypes) {
  PRECAST_SKIP_IF_LACKING("programs");
  const auto outputs = run(R"(
func.func public @main(%a: tensor<2xi32>)
    -> (tensor<2xf32>, tensor<2xi1>, tensor<i64>, tensor<0xui8>, tensor<2xi32>) {
  %f = stablehlo.convert %a : (tensor<2xi32>) -> tensor<2xf32>
  %c = stablehlo.constant dense<4> : tensor<2xi32>
  %p = stablehlo.compare GT, %a, %c : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  %s = stablehlo.constant dense<-7> : tensor<i64>
  %e = stablehlo.constant dense<> : tensor<0xui8>
  return %f, %p, %s, %e, %a
    : tensor<2xf32>, tensor<2xi1>, tensor<i64>, tensor<0xui8>, tensor<2xi32>
})",
                           {tensor<std::int32_t>(ElementType::s32, {2}, {4, 5})});
  ASSERT_EQ(outputs.size(), 5U);
  EXPECT_EQ(values_of<float>(outputs[0]), (std::vector<float>{4, 5}));
  EXPECT_EQ(outputs[1].data, Bytes("\0\1", 2));
  EXPECT_EQ(values_of<std::int64_t>(outputs[2]), std::vector<std::int64_t>{-7});
  EXPECT_EQ(outputs[3].type.to_string(), "u8[0]");
  EXPECT_EQ(values_of<std::int32_t>(outputs[4]), (std::vector<std::int32_t>{4, 5}));
}

// A tuple of tuples stands flat: that is what PJRT hands out and what the signature says.
TEST_F(ShapeConformance, ATupleOfResults) {
  PRECAST_SKIP_IF_LACKING("programs");
  const auto executable = compiled(R"(
func.func public @main(%a: tensor<2xi32>) -> tuple<tensor<2xi32>, tensor<i64>> {
  %s = stablehlo.constant dense<-7> : tensor<i64>
  %0 = stablehlo.tuple %a, %s : tuple<tensor<2xi32>, tensor<i64>>
  return %0 : tuple<tensor<2xi32>, tensor<i64>>
})",
                                   {device()});
  ASSERT_TRUE(executable);
  EXPECT_EQ(executable->result_count(), 2U);
  ASSERT_TRUE(executable->signature());
  ASSERT_EQ(executable->signature()->results.size(), 2U);
  EXPECT_EQ(executable->signature()->results[1].to_string(), "s64[]");
  const auto outputs = executable->run({tensor<std::int32_t>(ElementType::s32, {2}, {4, 5})});
  PRECAST_ASSERT_OK(outputs);
  ASSERT_EQ(outputs->at(0).size(), 2U);
  EXPECT_EQ(values_of<std::int32_t>(outputs->at(0)[0]), (std::vector<std::int32_t>{4, 5}));
  EXPECT_EQ(values_of<std::int64_t>(outputs->at(0)[1]), std::vector<std::int64_t>{-7});
}

TEST_F(ShapeConformance, AThousandParameters) {
  constexpr int kCount = 1000;
  std::string fake = "// fake: params=";
  std::string parameters;
  std::string sum;
  std::vector<HostTensor> inputs;
  for (int i = 0; i < kCount; ++i) {
    const std::string n = std::to_string(i);
    fake += (i == 0 ? "" : ",") + std::string("s32[2]");
    parameters += (i == 0 ? "%a" : ", %a") + n + ": tensor<2xi32>";
    if (i > 0) {
      sum += "  %s" + n + " = stablehlo.add " + (i == 1 ? "%a0" : "%s" + std::to_string(i - 1)) +
             ", %a" + n + " : tensor<2xi32>\n";
    }
    inputs.push_back(tensor<std::int32_t>(ElementType::s32, {2}, {i, -i}));
  }
  const std::vector<HostTensorView> views(inputs.begin(), inputs.end());
  const auto outputs =
      run(fake + " results=s32[2]\nfunc.func public @main(" + parameters +
              ") -> tensor<2xi32> {\n" + sum + "  return %s999 : tensor<2xi32>\n}\n",
          views);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].type.to_string(), "s32[2]");
  if (lacks("programs")) return;
  EXPECT_EQ(values_of<std::int32_t>(outputs[0]), (std::vector<std::int32_t>{499500, -499500}));
}

}  // namespace
}  // namespace precast::conformance
