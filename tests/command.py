"""The command, with the fixtures that tests/cli has for it, for the tests of other folders.

    from command import binary, precast, real, real_plugin
"""

import importlib.util
import pathlib

_PATH = pathlib.Path(__file__).resolve().parent / "cli" / "conftest.py"
_spec = importlib.util.spec_from_file_location("cli_conftest", _PATH)
_cli = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_cli)

binary = _cli.binary
precast = _cli.precast
real_plugin = _cli.real_plugin
real = _cli.real
RANKER = _cli.RANKER
