"""Digests of programs, by the helper that the build makes from program_digest_dump.cc."""

import json
import os
import pathlib
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PRECAST_BUILD_DIR", ROOT / "build"))
DUMP = BUILD / "tests" / "program_digest_dump"


class Digester:
    """Asks one running helper, a program at a time."""

    def __init__(self, helper=DUMP):
        self._process = subprocess.Popen(
            [helper, "--framed"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __call__(self, program):
        """What the helper says of the program, as a dictionary."""
        self._process.stdin.write(struct.pack("<I", len(program)) + program)
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def sha256(self, program):
        """The digest; a program that the rules do not decode is a failure."""
        answer = self(program)
        assert "sha256" in answer, answer["error"]
        return answer["sha256"]

    def close(self):
        self._process.stdin.close()
        assert self._process.wait() == 0
