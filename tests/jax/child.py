"""A process that compiles or loads programs and prints what came of it as JSON.

    child.py '{"devices": [0, 1, 2, 3], "programs": [...], "host_function": "sin"}'
"""

import contextlib
import io
import json
import sys

import jax
import numpy as np
import precast.jax

import programs


def values_of(tree):
    return [[str(leaf.dtype), np.asarray(leaf.astype("float32")).tolist(),
             sorted(d.id for d in leaf.devices()), leaf.sharding.memory_kind,
             list(leaf.format.layout.major_to_minor)]
            for leaf in jax.tree.leaves(tree)]


def main():
    wanted = json.loads(sys.argv[1])
    programs.rule_factor = wanted.get("rule_factor", 2.0)
    programs.host_function = getattr(np, wanted.get("host_function", "sin"))
    devices = [jax.devices()[i] for i in wanted.get("devices", [0, 1, 2, 3])]
    policy = wanted.get("policy", "read-write")
    said = {}
    for name in wanted.get("programs") or programs.PROGRAMS:
        programs.printed.clear()
        stage, args, kwargs = programs.PROGRAMS[name](devices)
        compiled = precast.jax.compile_or_load(stage, policy=policy)
        report = precast.jax.report(compiled)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            result = compiled(*args, **kwargs)
            jax.block_until_ready(result)
            jax.effects_barrier()
        said[name] = {
            "outcome": report.outcome, "reason": report.reason, "detail": report.detail,
            "key": report.key, "binding": report.binding, "stored_binding": report.stored_binding, "values": values_of(result), "printed": [*programs.printed, out.getvalue()],
            "seconds": report.seconds,
            "consumed": [leaf.is_deleted() for leaf in jax.tree.leaves(args)],
            "tree": type(result).__name__, "output_size": report.output_size,
            "flops": report.flops,
        }
    print(json.dumps(said))


main()
