"""One rank of a job on two devices of two processes, with pypjrt: compiles for both of them, and for its own.

    rank.py LIBRARY
"""

import sys

import pypjrt

PROGRAM = """
module @two {
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    return %a : tensor<4xf32>
  }
}
"""

with pypjrt.Client.create(pypjrt.Plugin(sys.argv[1])) as client:
    with client.compile(PROGRAM, options=pypjrt.CompileOptions(num_replicas=2)):
        print("both")
