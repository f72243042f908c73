// fake: params=s32[2,3],bf16[3],pred[2] results=s32[2,3],bf16[3],pred[2] name=kinds
module @kinds {
  func.func public @main(%arg0: tensor<2x3xi32>, %arg1: tensor<3xbf16>, %arg2: tensor<2xi1>)
      -> (tensor<2x3xi32>, tensor<3xbf16>, tensor<2xi1>) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2x3xi32>
    %1 = stablehlo.add %arg1, %arg1 : tensor<3xbf16>
    %2 = stablehlo.not %arg2 : tensor<2xi1>
    return %0, %1, %2 : tensor<2x3xi32>, tensor<3xbf16>, tensor<2xi1>
  }
}
