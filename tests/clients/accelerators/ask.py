"""Asks a plugin what it can say without a device, with pypjrt; the last line is JSON.

    ask.py LIBRARY cuda|tpu
"""

import json
import pathlib
import sys

import pypjrt
from pypjrt.topology import Topology

PROGRAM = """
module @ahead {
  func.func public @main(%a: tensor<64xf32>) -> tensor<64xf32> {
    %0 = stablehlo.add %a, %a : tensor<64xf32>
    return %0 : tensor<64xf32>
  }
}
"""
TARGET = pathlib.Path(__file__).parent / "h200.txtpb"
# What is compiled for, without a device: a name and options.
TOPOLOGIES = {
    "cuda": ("", {"topology": "1x1x1", "target_config": TARGET.read_text(),
                  "host_target_machine_options": 'triple: "x86_64-unknown-linux-gnu" cpu: "x86-64-v3"'}),
    "tpu": ("v5e:1x1", None),
}


def said(question):
    try:
        return question()
    except Exception as error:  # noqa: BLE001, whatever it is must be the same
        return {"error": f"{type(error).__name__}: {error}"}


def describe():
    name_of_it, options = TOPOLOGIES[name]
    return Topology.create(plugin, name_of_it, options=options)


def facts(topology):
    return {"platform": topology.platform_name, "version": topology.platform_version,
            "devices": len(topology.device_descriptions())}


library, name = sys.argv[1:3]
plugin = pypjrt.Plugin(library)
plugin.initialize()
answers = {
    "api_version": list(plugin.api_version),
    "struct_size": plugin.api_struct_size,
    "attributes": {key: str(value) for key, value in plugin.attributes.items()},
    "extensions": [[extension.type, extension.version] for extension in plugin.extensions],
    "missing": [slot for slot in range(plugin.n_slots) if not plugin._vtable[slot]],
    "client": said(lambda: pypjrt.Client.create(plugin).platform_name),
    "topology": said(lambda: facts(describe())),
    "compiled": said(lambda: {"bytes": len(describe().compile(PROGRAM))}),
}
print(json.dumps(answers))
