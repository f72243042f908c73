// Programs that the real plugins compile as StableHLO and the fake plugin reads by its comments
// (testing/README.md), with the same results from both.
#pragma once

#include <string>

namespace precast::conformance {

// (f32[2,3], f32[2,3]) -> (f32[2,3], f32[2,3]): each plus one.
inline constexpr const char* kAddOne = R"(
// fake: params=f32[2,3],f32[2,3] results=f32[2,3],f32[2,3] name=add_one
module @add_one {
  func.func public @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>)
      -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %one = stablehlo.constant dense<1.0> : tensor<2x3xf32>
    %0 = stablehlo.add %a, %one : tensor<2x3xf32>
    %1 = stablehlo.add %b, %one : tensor<2x3xf32>
    return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
  }
}
)";

// (s32[4]) -> (s32[4]): plus one, into the buffer of the parameter.
inline constexpr const char* kDonating = R"(
// fake: params=s32[4] results=s32[4] donate=0 name=donating
module @donating {
  func.func public @main(%a: tensor<4xi32> {tf.aliasing_output = 0 : i32}) -> tensor<4xi32> {
    %one = stablehlo.constant dense<1> : tensor<4xi32>
    %0 = stablehlo.add %a, %one : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
}
)";

// (f32[2,3]) -> (f32[2,3]): plus one.
inline constexpr const char* kPlusOne = R"(
// fake: params=f32[2,3] results=f32[2,3] name=plus_one
module @plus_one {
  func.func public @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %one = stablehlo.constant dense<1.0> : tensor<2x3xf32>
    %0 = stablehlo.add %a, %one : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
)";

// (f32[2,3]) -> (f32[2,3]): plus one, where parameter and result are column-major on the device.
inline constexpr const char* kColumnMajor = R"(
module @column_major {
  func.func public @main(%a: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"})
      -> (tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}) {
    %one = stablehlo.constant dense<1.0> : tensor<2x3xf32>
    %0 = stablehlo.add %a, %one : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
)";

// (f32[2,3]) -> (f32[2,3]): plus one, where only the result is column-major on the device.
inline constexpr const char* kColumnMajorResult = R"(
module @column_major_result {
  func.func public @main(%a: tensor<2x3xf32>)
      -> (tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}) {
    %one = stablehlo.constant dense<1.0> : tensor<2x3xf32>
    %0 = stablehlo.add %a, %one : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
)";

// (f32[64]) -> (f32[64]). XLA's CPU plugin serializes a sort before its first run and not after it:
// the run puts a function pointer where the comparator's name was.
inline constexpr const char* kSorting = R"(
// fake: params=f32[64] results=f32[64] name=sorting
module @sorting {
  func.func public @main(%a: tensor<64xf32>) -> tensor<64xf32> {
    %0 = "stablehlo.sort"(%a) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %less = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    }) {dimension = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
    return %0 : tensor<64xf32>
  }
}
)";

// Cannot be serialized once it ran, and by the fake plugin not at all.
inline const std::string kNotSerializable = std::string("// fake: not_serializable") + kSorting;

// Does not parse.
inline constexpr const char* kBroken = R"(
// fake: fail=INVALID_ARGUMENT:error: the module is broken
module @broken { func.func public @main( }
)";

}  // namespace precast::conformance
