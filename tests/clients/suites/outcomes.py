"""A plugin of pytest: writes down each test's outcome as soon as it is known, so that a test that ends the process is
known by its name.

OUTCOMES names the file, to which is appended: "start", then "passed", "failed", "skipped" or "xfailed", the test, and for
one that failed what it said.
OUTCOMES_DONE, when set, names tests that have been, one a line: they are left out.
"""

import os


def _write(outcome, test, message=""):
    with open(os.environ["OUTCOMES"], "a", encoding="utf-8") as file:
        file.write(f"{outcome}\t{test}\t{message.splitlines()[0] if message else ''}\n")


def pytest_runtest_logstart(nodeid, location):
    _write("start", nodeid)


def pytest_runtest_logreport(report):
    outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
    # Of setting up and tearing down only what is out of the order.
    if report.when == "call" or outcome != "passed":
        crash = getattr(report.longrepr, "reprcrash", None)
        _write(outcome, report.nodeid, crash.message if crash else "")


def pytest_collectreport(report):
    if report.failed:
        _write("failed", report.nodeid)


def pytest_collection_modifyitems(config, items):
    if path := os.environ.get("OUTCOMES_DONE"):
        with open(path, encoding="utf-8") as file:
            done = set(file.read().splitlines())
        items[:] = [item for item in items if item.nodeid not in done]
