"""A process with a plugin of its own, because flags are read once and bad ones end the process.

    child.py PLUGIN         standard input: JSON lines, each a step
    {"options": hex}        compiles a small program with these compile options, prints {"options":
                            what was in force, as hex, "code": its digest} or {"error": ...}
    {"environment": text}   sets XLA_FLAGS in this process
    {"client": true}        makes another client
"""

import hashlib
import json
import os
import sys

import messages
from pypjrt import Client, errors


def main():
    plugin = sys.argv[1]
    client = Client.create(plugin)
    for line in sys.stdin:
        step = json.loads(line)
        if "environment" in step:
            os.environ["XLA_FLAGS"] = step["environment"]
        elif "client" in step:
            client = Client.create(plugin)
        else:
            options = messages.Encoded(bytes.fromhex(step["options"]))
            try:
                serialized = client.compile(messages.PROGRAM, options=options).serialize()
                code = hashlib.sha256(messages.object_code(serialized)).hexdigest()
                answer = {"options": messages.effective_options(serialized).hex(), "code": code}
            except errors.PjrtError as error:
                answer = {"error": str(error)}
            print(json.dumps(answer), flush=True)


main()
