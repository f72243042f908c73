"""A trainer's programs, all at once."""

import contextlib
import dataclasses
import functools
import logging
import os
import pathlib
import re
import tempfile
import typing

import jax

from precast.aot import _key, _options
from precast.jax import _files, _many, _placed, _private, _request

logger = logging.getLogger("precast.aot")

# The option of a compile that names a file of annotations, which not every XLA has.
ANNOTATIONS_OPTION = "xla_gpu_compiler_annotations_file"
# The modules whose HLO is of interest in each run.
DUMPED_MODULES = "compute_grad|apply_grad|update"

_warned = set()


@dataclasses.dataclass
class TracedWithOptions:
    """A program and how to compile it.

    traced: a jax.stages.Traced or Lowered. options: of the compile, as of Lowered.compile; beside them
    `dump_all_hlos` (a bool: the HLO after each pass is written), and `xla_gpu_compiler_annotations_file`,
    whose content counts in the key also where this XLA has no such option. add_location_info: the
    source's locations count in the key."""

    traced: typing.Any
    options: dict | None = None
    add_location_info: bool = False


@dataclasses.dataclass
class _Program:
    """What becomes of one TracedWithOptions."""

    spec: _many.Spec
    dump_all: bool
    module: str = ""


def compile_or_load_all_traced(all_traced, aot_cache_dir, fdo_profile_dir=None, run_dir=None, aot_dump=False,
                               devices=None):
    """Loads or compiles programs: (name -> jax.stages.Compiled, name -> metrics), in the order given.

    all_traced: name -> TracedWithOptions. aot_cache_dir: the cache's folder. fdo_profile_dir: a profile
    <name>.pbtxt in it, else fdo.pbtxt, else <name>.fdo, guides the compile and counts in the key.
    run_dir: the optimized HLO of modules that match DUMPED_MODULES, and of programs with dump_all_hlos, lands
    in its folder hlos; None: in one for this user and rank in the folder for temporary files.
    aot_dump: what each key is made of is written to <aot_cache_dir>/<module>_<key>_debug. devices: an
    array or sequence that holds all devices of all programs; None or empty: jax.devices(); a program
    for abstract meshes alone runs on them by position.

    Metrics are temp_size, host_offload_size and output_size in bytes, of one device. ValueError: no
    folder, no devices, or a program on devices that are not in the list; FileNotFoundError: the file of
    annotations is not there; else as of precast.jax.compile_or_load_all: all programs are tried, one
    failure is raised as it is, several as an ExceptionGroup. A program that cannot be serialized is
    compiled, and counted as a skip."""
    if not aot_cache_dir:
        raise ValueError("AOT cache directory must be provided. Give a folder that the next process finds again")
    given = [] if devices is None else list(getattr(devices, "flat", devices))
    chosen = _options.devices_of(given or jax.devices())
    folder = functools.cache(lambda: pathlib.Path(run_dir) / "hlos" if run_dir else _temporary_folder())
    programs = {name: _program(one, chosen[0].client, folder) for name, one in all_traced.items()}
    metrics = {}

    def prepare(name, spec, lowered):
        placed = _placed_among(lowered, chosen)
        programs[name].module = _private.module_name(placed.compiler_ir())
        # Each rank has the same key; one record of it is enough.
        if aot_dump and _rank() == 0:
            _write_record(pathlib.Path(aot_cache_dir), placed, spec, _profile(fdo_profile_dir, name))
        return placed

    def finish(name, compiled, report):
        sizes = _private.memory(compiled.runtime_executable())
        metrics[name] = {"temp_size": sizes.get("temp", 0), "host_offload_size": sizes.get("host_temp", 0),
                         "output_size": sizes.get("output", 0)}
        if programs[name].dump_all or re.search(DUMPED_MODULES, programs[name].module):
            _dump(folder(), name, compiled, programs[name].dump_all and report.outcome == "hit")

    # Each rank looks up, loads and compiles for itself here. Programs on devices of several processes bypass
    # the cache; where all ranks are to decide together, this call is the place.
    done = _many.run_all({name: one.spec for name, one in programs.items()}, cache=aot_cache_dir, policy="read-write",
                         devices=chosen, prepare=prepare, profile_of=lambda name: _profile(fdo_profile_dir, name),
                         finish=finish)
    return dict(done), {name: metrics[name] for name in done}


def _rank():
    return jax.process_index()


def _program(given, backend, folder):
    """What is asked for, in the words of precast.jax. FileNotFoundError names a file of annotations."""
    options = dict(given.options or {})
    dump_all = bool(options.pop("dump_all_hlos", False))
    annotations = options.get(ANNOTATIONS_OPTION) or None
    if annotations is not None and not os.path.isfile(annotations):
        raise FileNotFoundError(f"Compiler annotation file {annotations} not found. Write it before the programs are "
                                f"compiled, or leave {ANNOTATIONS_OPTION} out")
    if ANNOTATIONS_OPTION in options and (annotations is None or _lacks(backend, annotations)):
        del options[ANNOTATIONS_OPTION]
    if dump_all and folder() is not None:
        # They are no part of a key, and on a hit there are no passes to look at.
        options = {"xla_dump_to": str(folder()), "xla_dump_hlo_as_text": True, "xla_dump_hlo_pass_re": ".*", **options}
    return _Program(_many.Spec(given.traced, compiler_options=options or None,
                               add_location_info=given.add_location_info, annotations_file=annotations), dump_all)


def _lacks(backend, annotations):
    """Whether this XLA has no such option; says so once."""
    if not _private.lacks_option(backend, ANNOTATIONS_OPTION, os.fspath(annotations)):
        return False
    if ANNOTATIONS_OPTION not in _warned:
        _warned.add(ANNOTATIONS_OPTION)
        logger.warning("this XLA (jaxlib %s) has no option %s: it is left out, and the content of the file counts in "
                       "the keys all the same", _private.jaxlib_version(), ANNOTATIONS_OPTION)
    return True


def _placed_among(lowered, devices):
    """The lowering anew; its devices are all among these. ValueError names one that is not."""
    own = _private.devices_of_lowering(lowered)
    if own is None:
        count = _private.device_count(lowered)
        if len(devices) != count:
            raise ValueError(_options.cannot_remap(1, count, len(devices)))
    for device in own or ():
        if device not in devices:
            raise ValueError(f"Unknown device: {device} is one of those that the program was traced for and none of "
                             "`devices`. Give a list that holds it, or trace the program for devices of the list")
    # JAX remembers compiles by program and options, and would pass over what else counts here.
    return _placed.afresh(lowered, own or devices)


def _profile(folder, name):
    """The bytes that guide the compile of a program; None where there are none."""
    for file in () if folder is None else (f"{name}.pbtxt", "fdo.pbtxt", f"{name}.fdo"):
        path = pathlib.Path(folder) / file
        if path.is_file():
            return path.read_bytes()
    return None


def _write_record(folder, lowered, spec, profile):
    """What the key of a program is made of, as a text file. A fault of it fails no compile."""
    annotations = pathlib.Path(spec.annotations_file).read_bytes() if spec.annotations_file else b""
    said = _key.key_of(lowered, spec.compiler_options, locations=spec.add_location_info, annotations=annotations,
                       profile=profile)
    module = _private.module_name(lowered.compiler_ir())
    name = f"{module}_{said['key'] or said['reason']}_debug"
    with _only_warned(f"the record of {module} was not written"):
        folder.mkdir(parents=True, exist_ok=True)
        _files.write(folder / name, _key.context_of(lowered, said, spec.add_location_info).as_text().encode())


def _dump(folder, name, compiled, no_passes):
    text = compiled.as_text()
    if folder is None or text is None:
        return
    with _only_warned(f"the HLO of {name} was not written"):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (_many.file_name(name) + ".hlo.txt")
        _files.write(path, text.encode())
        if no_passes:
            logger.info("%s came from the cache, so no passes ran that could be dumped; its final HLO is '%s'. An empty "
                        "cache folder shows them", name, path)


def _temporary_folder():
    """<temporary files>/hlos-<user>/<rank>, or None where somebody else made it."""
    top = pathlib.Path(tempfile.gettempdir()) / f"hlos-{os.getuid()}"
    with _only_warned("HLO is not written"):
        top.mkdir(mode=0o700, exist_ok=True)
        if top.is_symlink() or top.stat().st_uid != os.getuid():
            raise OSError(f"'{top}' belongs to somebody else")
        return top / str(_rank())
    return None


@contextlib.contextmanager
def _only_warned(what):
    try:
        yield
    except OSError as error:
        logger.warning("%s: %s", what, error)
