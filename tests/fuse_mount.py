"""Mounts the FUSE file system of testing/fuse_fs (testing/README.md) for a test."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time


def why_not():
    """Why no FUSE file system can be mounted here; nothing when one can."""
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        return f"/dev/fuse cannot be opened: {error.strerror}"
    return None


def state_of(task):
    """The letter that /proc has for a thread's state; "X" when it is gone."""
    try:
        return (task / "stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return "X"


class Mount:
    """`path` shows the folder `source`; what rule() sets goes wrong there."""

    def __init__(self, folder):
        self.source = folder / "source"
        self.path = folder / "mount"
        self.control = folder / "control"
        self.source.mkdir(mode=0o755)
        self.path.mkdir(mode=0o755)
        self.control.write_text("")
        self.process = None

    def rule(self, *rules):
        """Replaces all rules, as a whole: the file system reads the file at any time."""
        fresh = self.control.with_suffix(".new")
        fresh.write_text("\n".join(rules))
        fresh.replace(self.control)

    def start(self):
        program = pathlib.Path(os.environ["PRECAST_BUILD_DIR"]) / "tests" / "precast_fuse_fs"
        outside = self.path.stat().st_dev
        self.process = subprocess.Popen(
            [program, self.source, self.path, self.control], stderr=subprocess.PIPE)
        while self.process.poll() is None:
            if self.path.stat().st_dev != outside:
                return None
            time.sleep(0.01)
        return self.process.stderr.read().decode().strip()

    def pause(self):
        """Stops the server: no request is even taken, until go_on()."""
        self.process.send_signal(signal.SIGSTOP)
        # The signal is only on its way: until each thread has stopped, one may take another request.
        while not all(state_of(task) in "TZX" for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()):
            time.sleep(0.001)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        # Killed first: a request that it holds would hold the unmounting too.
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stderr.close()
        for command in (["umount", "-l"], ["fusermount3", "-u", "-z"]):
            if subprocess.run([*command, self.path], capture_output=True, check=False).returncode == 0:
                return


@contextlib.contextmanager
def mounted(folder):
    """A Mount below `folder`, or skips the test with the reason."""
    import pytest

    reason = why_not()
    if reason:
        pytest.skip(reason)
    mount = Mount(pathlib.Path(folder).resolve())
    try:
        said = mount.start()
        if said is not None and "permitted" in said:
            pytest.skip(f"a FUSE file system cannot be mounted here: {said}")
        assert said is None, said
        yield mount
    finally:
        mount.stop()
