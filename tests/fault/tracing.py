"""Runs the command under strace: sees its system calls, and makes some of them fail.

A fault is meant for the store alone, while strace counts all of a thread's calls of one name, or those of paths that are
known before. So a run without faults is recorded first; a call is then named by its number among the calls of its name.
Nothing in a run of the command depends on chance, and what strace reports afterwards shows whether the fault met the
store.
"""

import collections
import dataclasses
import re
import shutil
import subprocess

import pytest

# What reads or changes files.
CALLS = ("openat,newfstatat,fstat,statx,read,pread64,write,pwrite64,fsync,fdatasync,close,renameat,renameat2,rename,"
         "linkat,link,unlinkat,unlink,mkdirat,mkdir,rmdir,flock,utimensat,ftruncate,fstatfs,statfs,readlinkat,readlink,"
         "getdents64,fchmod,fchown")
CHANGES = {"write", "pwrite64", "renameat", "renameat2", "rename", "linkat", "link", "unlinkat", "unlink", "mkdirat",
           "mkdir", "rmdir", "flock", "utimensat", "ftruncate", "fchmod", "fchown", "fsync", "fdatasync"}


@dataclasses.dataclass(frozen=True)
class Call:
    name: str
    number: int  # among the calls of this name of its thread, from 1 on
    main: bool  # of the first thread
    injected: bool
    in_store: bool
    text: str

    def changes(self):
        return self.name in CHANGES or (self.name == "openat" and re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC)", self.text))


def why_not():
    """Why nothing can be traced here; nothing when it can."""
    if shutil.which("strace") is None:
        return "there is no strace"
    tried = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"strace may not trace here: {tried.stderr.strip()}"


def require():
    reason = why_not()
    if reason:
        pytest.skip(reason)


class Traced:
    """One run: its exit code (negative: died of that signal), what it said, and its calls."""

    def __init__(self, process, calls):
        self.code = process.returncode
        self.out = process.stdout.decode()
        self.err = process.stderr.decode()
        self.calls = calls

    def store_calls(self):
        return [call for call in self.calls if call.in_store and call.main]

    def astray(self):
        """The injected calls that were not the store's."""
        return [call for call in self.calls if call.injected and not call.in_store]


def _calls(log, store):
    inside = re.compile(
        "[<\"]" + re.escape(str(store)) + "[/>\"]|<" + re.escape(str(store.parent)) + r'>, "' + re.escape(store.name) + '"')
    calls, numbers, pending, first = [], collections.Counter(), {}, None
    for line in log.read_text(errors="replace").splitlines():
        started = re.match(r"(\d+)\s+(\w+)\((.*)", line)
        resumed = re.match(r"(\d+)\s+<\.\.\. (\w+) resumed>(.*)", line)
        if started:
            pid, name, rest = started.groups()
            first = first or pid
            numbers[pid, name] += 1
            calls.append(Call(name, numbers[pid, name], pid == first, "(INJECTED)" in rest, bool(inside.search(line)), line))
            pending[pid] = len(calls) - 1
        elif resumed and resumed.group(1) in pending and "(INJECTED)" in line:
            at = pending[resumed.group(1)]
            calls[at] = dataclasses.replace(calls[at], injected=True)
    return calls


def run(place, words, inject=(), only=(), env=None):
    """`precast words...` with these faults ("openat:error=EIO:when=3"). With `only`, calls count that name one of these
    paths, or a descriptor of one: in threads, too, whose other calls would be met as well."""
    precast = place.precast
    log = place.home / "trace"
    command = ["strace", "-f", "-y", "-s", "64", "-o", log, "-e", f"trace={CALLS}"]
    # Quicker, but a signal would not be sent.
    if not any(":signal=" in fault for fault in inject):
        command.insert(2, "--seccomp-bpf")
    for path in only:
        command += ["-P", path]
    for fault in inject:
        command += ["-e", f"inject={fault}"]
    process = subprocess.run([*command, precast.binary, *map(str, words)],
                             env=precast.environment({**place.env, **(env or {})}), cwd=precast.folder,
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
    return Traced(process, _calls(log, place.cache))
