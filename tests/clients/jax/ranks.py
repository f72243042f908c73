"""Two processes of one job, as jax.distributed makes them; prints what each said when it made its client, as JSON."""

import json
import socket
import subprocess
import sys

RANK = """
import sys, jax
jax.distributed.initialize(sys.argv[1], 2, int(sys.argv[2]), initialization_timeout=60)
try:
    print(len(jax.devices()))
except RuntimeError as error:
    print(str(error).split(" (set JAX_PLATFORMS")[0])
"""

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    address = f"127.0.0.1:{probe.getsockname()[1]}"
ranks = [subprocess.Popen([sys.executable, "-c", RANK, address, str(rank)], stdout=subprocess.PIPE, text=True)
         for rank in range(2)]
print(json.dumps([rank.communicate(timeout=120)[0].strip() for rank in ranks]))
