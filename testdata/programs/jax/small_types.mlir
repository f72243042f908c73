module @jit_mix attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xi4>, %arg1: tensor<2x4xf8E4M3FN>, %arg2: tensor<4x2xf8E5M2>, %arg3: tensor<5xf32>) -> (tensor<3xi8> {jax.result_info = "result[0]"}, tensor<2x2xf32> {jax.result_info = "result[1]"}, tensor<5xf8E8M0FNU> {jax.result_info = "result[2]"}, tensor<5xi1> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.convert %arg1 : (tensor<2x4xf8E4M3FN>) -> tensor<2x4xf32>
    %1 = stablehlo.convert %arg2 : (tensor<4x2xf8E5M2>) -> tensor<4x2xbf16>
    %2 = stablehlo.convert %1 : (tensor<4x2xbf16>) -> tensor<4x2xf32>
    %3 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
    %c = stablehlo.constant dense<3> : tensor<i4>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i4>) -> tensor<3xi4>
    %5 = stablehlo.add %arg0, %4 : tensor<3xi4>
    %6 = stablehlo.convert %5 : (tensor<3xi4>) -> tensor<3xi8>
    %7 = stablehlo.convert %arg3 : (tensor<5xf32>) -> tensor<5xf8E8M0FNU>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %9 = stablehlo.compare EQ, %arg3, %8, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
    return %6, %3, %7, %9 : tensor<3xi8>, tensor<2x2xf32>, tensor<5xf8E8M0FNU>, tensor<5xi1>
  }
}
