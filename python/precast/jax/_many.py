"""Many programs at once."""

import collections.abc
import concurrent.futures
import contextlib
import dataclasses
import os
import pathlib
import re
import threading
import typing
import weakref

from precast.jax import _config, _placed, _private, _request, _serve

DEFAULT_WORKERS = 8


@dataclasses.dataclass(frozen=True)
class Spec:
    """A program and how to compile it.

    compiler_options: as of Lowered.compile. add_location_info: the source's locations count in the
    key. annotations_file: its content counts; FileNotFoundError when it is not there."""

    stage: typing.Any
    compiler_options: dict | None = None
    add_location_info: bool = False
    annotations_file: str | os.PathLike | None = None
    _trace_seconds: float | None = dataclasses.field(default=None, repr=False)  # where the registry traced


class Executables(collections.abc.Mapping):
    """Compiled programs by name, in the order in which they were given; `reports` has a Report for each."""

    def __init__(self, compiled, reports):
        self._compiled = compiled
        self.reports = reports

    def __getitem__(self, name):
        return self._compiled[name]

    def __iter__(self):
        return iter(self._compiled)

    def __len__(self):
        return len(self._compiled)


_asked = weakref.WeakKeyDictionary()  # for modules of lowerings: the cache that was asked first


def that_asks(lowered, policy, cache):
    """A Lowered whose compile asks this cache: a copy where JAX would give what it compiled before instead.

    Under "read-write" and "read-only" what JAX has is as good, unless another cache was asked for it."""
    if _config.disabled() or _private.devices_of_lowering(lowered) is None:
        return lowered
    first = _asked.setdefault(lowered.compiler_ir(), cache)
    return _placed.afresh(lowered) if policy in ("refresh", "offline") or first is not cache else lowered


def _annotations(spec):
    if spec.annotations_file is None:
        return b""
    path = pathlib.Path(spec.annotations_file)
    if not path.is_file():
        raise FileNotFoundError(f"there is no annotations file '{path}'")
    return path.read_bytes()


def _profile(folder, name):
    """The profile for a program: <folder>/<name>.fdo; None where there is none."""
    if folder is None:
        return None
    path = pathlib.Path(folder) / (file_name(name) + ".fdo")
    return path.read_bytes() if path.is_file() else None


def file_name(name):
    """A program's name as part of a file's."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)


def _dump(folder, name, compiled):
    if folder is None:
        return
    path = pathlib.Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    text = compiled.as_text()
    if text is not None:
        (path / (file_name(name) + ".hlo.txt")).write_text(text, encoding="utf-8")


def _wait(pool, futures, silence_timeout_s, gave_up):
    """Until all are done; says so where nothing ends for long. A signal leaves those behind that wait."""
    waiting = set(futures)
    try:
        while waiting:
            done, waiting = concurrent.futures.wait(
                waiting, timeout=silence_timeout_s,
                return_when=concurrent.futures.FIRST_COMPLETED)
            if not done:
                _request.logger.warning("nothing ended for %s s; still at it: %s",
                                        silence_timeout_s,
                                        ", ".join(futures[future] for future in waiting))
    except BaseException:
        gave_up.set()
        pool.shutdown(wait=False, cancel_futures=True)
        raise


def _raise(failed, count):
    """One failure as it is, several as a group; the notes have the names."""
    if not failed:
        return
    for name, error in failed.items():
        error.add_note(f"in the program '{name}'")
    if len(failed) == 1:
        raise next(iter(failed.values()))
    raise ExceptionGroup(f"{len(failed)} of {count} programs failed: {', '.join(failed)}",
                         list(failed.values()))


def compile_or_load_all(programs, *, cache=None, devices=None, policy="read-write",
                        fdo_profile_dir=None, dump_dir=None, max_workers=None,
                        silence_timeout_s=120, label=None):
    """compile_or_load for many programs, several at a time: name -> Compiled, in the order given.

    programs: name -> Traced, Lowered or Spec. devices: as of compile_or_load, for all of them.
    fdo_profile_dir: <name>.fdo in it guides the compile of the program and counts in its key.
    dump_dir: gets the optimized HLO of each, <name>.hlo.txt, on a hit too. max_workers: at most so
    many at once; None: the CPUs, at most 8. silence_timeout_s: after so long without any program
    ending a warning names those that are still at it.

    Lowering is done by the calling thread, under its settings of JAX; the rest by others. All
    programs are tried; then one failure is raised as it is, and several as one ExceptionGroup, with
    the programs' names in notes."""
    devices = _placed.listed(devices)
    return run_all(programs, cache=cache, policy=policy, devices=devices, max_workers=max_workers,
                   silence_timeout_s=silence_timeout_s, label=label,
                   prepare=lambda name, spec, lowered: _placed.on_devices(lowered, devices),
                   profile_of=lambda name: _profile(fdo_profile_dir, name),
                   finish=lambda name, compiled, report: _dump(dump_dir, name, compiled))


def run_all(programs, *, cache, policy, devices, prepare, profile_of, finish, max_workers=None,
            silence_timeout_s=120, label=None):
    """What compile_or_load_all() does, for callers who choose more.

    devices: where they are to run, as far as that is known, for those that are lowered for no device.
    prepare(name, spec, lowered): the Lowered to compile, called by this thread. profile_of(name):
    the profile's bytes, or None. finish(name, compiled, report): called by the thread that compiled
    or loaded it. What they raise is a failure of the program."""
    wanted = _config.policy_of(policy)
    opened = _request.open_cache(cache)
    workers = max_workers or min(DEFAULT_WORKERS, os.cpu_count() or 1)
    gave_up = threading.Event()
    compiled, reports, failed, futures = {}, {}, {}, {}

    def work(name, lowered, spec, request):
        with request.active():
            result = _serve.compile_lowered(request, lowered, spec.compiler_options)
        finish(name, *result)
        return result

    with contextlib.ExitStack() as stack:
        pool = concurrent.futures.ThreadPoolExecutor(workers, "precast-jax")
        stack.callback(lambda: pool.shutdown(wait=not gave_up.is_set()))
        for name, given in programs.items():
            spec = given if isinstance(given, Spec) else Spec(given)
            try:
                seconds = {} if spec._trace_seconds is None else {"trace": spec._trace_seconds}  # pylint: disable=protected-access
                annotations, profile = _annotations(spec), profile_of(name)
                lowered = prepare(name, spec, _serve.lower(spec.stage, seconds, devices))
                if annotations or profile or spec.add_location_info:
                    # JAX remembers compiles by program and options, and would pass over what else counts here.
                    lowered = _placed.afresh(lowered)
                else:
                    lowered = that_asks(lowered, policy, opened)
                request = _request.Request(
                    cache=opened, policy=wanted, module=lowered.compiler_ir(), seconds=seconds,
                    annotations=annotations, locations=spec.add_location_info,
                    label=label, profile=profile, cancelled=gave_up.is_set)
            except Exception as error:  # pylint: disable=broad-exception-caught  # raised below
                failed[name] = error
                continue
            futures[pool.submit(work, name, lowered, spec, request)] = name
        _wait(pool, futures, silence_timeout_s, gave_up)
    by_name = {name: future for future, name in futures.items()}
    for name in programs:
        if name not in by_name:
            continue
        error = by_name[name].exception()
        if error is not None:
            failed[name] = error
        else:
            compiled[name], reports[name] = by_name[name].result()
    _raise({name: failed[name] for name in programs if name in failed}, len(programs))
    return Executables(compiled, reports)


__all__ = ["Executables", "Spec", "compile_or_load_all"]
