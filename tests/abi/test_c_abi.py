"""src/pjrt/c_abi.h against an independent witness: the ctypes tables of the package pypjrt.

pypjrt derives its tables from PJRT's own header with libclang. For every struct that both declare,
a small program prints what the compiler makes of ours; sizes and offsets must agree. A field that
only pypjrt knows does not compile; one that only we know changes the size.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from pypjrt._abi import pjrt_0_114 as witness

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "src" / "pjrt"

# Structs that only pypjrt has. All belong to extensions, which have headers of their own; c_abi.h
# stops at the chain of extensions.
ONLY_THEIRS = re.compile(
    # Named after their extension.
    r"PJRT_(AbiVersion|Callback|Collectives|CrossHostTransfers|Custom_Partitioner|Example|"
    r"ExecutableMetadata|FFI|Gpu|HostAllocator|HostMemoryAllocator|Layouts|Megascale|"
    r"MemoryDescription|MemoryDescriptions|MultiSlice|PhaseCompile|Profiler|RawBuffer|Shardings|"
    r"Stream|TpuExecutable|TpuTopology|Triton|XlaTransform|Xla_Transform)(_|$)"
    # The same extensions, under other names.
    r"|PJRT_(Clear|Register)_Xla_Transform_Args"
    r"|PJRT_(Client_RuntimeAbiVersion|Executable_GetAbiVersion)_Args"
    r"|PJRT_(Runtime|Executable)AbiVersion_"
    r"|PJRT_DeviceDescription_MemoryDescriptions_Args"
    r"|PJRT_DeviceEvent(Promise|Vector)?(_FunctionTable)?$"
    r"|PJRT_Register_(Batch_Partitionable|Custom_Partitioner)_Args"
    r"|PJRT_(Get_Stream_For_External_Ready_Events|Wait_Until_Buffer_Ready_On_Stream)_Args"
)
ENUMS = ("Buffer_MemoryLayout_Type", "Buffer_Type", "Error_Code", "Extension_Type",
         "HostBufferSemantics", "NamedValue", "ProcessState")


def witness_structs():
    return {
        name: cls
        for name, cls in vars(witness).items()
        if name.startswith("PJRT_") and isinstance(cls, type) and hasattr(cls, "_fields_")
    }


def fields(cls):
    """The fields of a ctypes struct by name, those of anonymous unions in their place."""
    names = []
    for name, kind in cls._fields_:
        anonymous = name in getattr(cls, "_anonymous_", ())
        names += [inner for inner, _ in kind._fields_] if anonymous else [name]
    return names


def witness_layout(name, cls):
    # PJRT_Error and others that have no extension chain have no STRUCT_SIZE either.
    size = getattr(witness, f"{name}_STRUCT_SIZE", None)
    return {"size": size, "fields": {field: getattr(cls, field).offset for field in fields(cls)}}


def witness_enumerators():
    prefixes = tuple(f"PJRT_{enum}_" for enum in ENUMS)
    return {
        name: value
        for name, value in vars(witness).items()
        if name.startswith(prefixes) and isinstance(value, int) and not name.endswith("_SIZE")
    }


def declared_structs(sources):
    text = "".join(path.read_text() for path in sorted(sources.glob("c_abi*.h")))
    return set(re.findall(r"^struct (PJRT_\w+) \{", text, re.MULTILINE))


def dump(sources, folder):
    """Sizes, offsets and enumerators of the headers in `sources`, as the compiler lays them out."""
    shared = {n: c for n, c in witness_structs().items() if n in declared_structs(sources)}
    lines = ["#include <cstddef>", "#include <cstdio>", '#include "pjrt/c_abi.h"', "int main() {",
             '  std::printf("{\\"structs\\":{");']
    comma = ""
    for name, cls in shared.items():
        lines.append(f'  std::printf("{comma}\\"{name}\\":{{\\"size\\":%zu,\\"fields\\":{{",'
                     f" precast::pjrt::kStructSize<{name}>);")
        for index, field in enumerate(fields(cls)):
            lines.append(f'  std::printf("{"," if index else ""}\\"{field}\\":%zu",'
                         f" offsetof({name}, {field}));")
        lines.append('  std::printf("}}");')
        comma = ","
    lines.append('  std::printf("},\\"enumerators\\":{");')
    for index, name in enumerate(witness_enumerators()):
        lines.append(f'  std::printf("{"," if index else ""}\\"{name}\\":%d", int({name}));')
    lines += ['  std::printf("}}\\n");', "}"]

    source, program = folder / "abi_dump.cc", folder / "abi_dump"
    source.write_text("\n".join(lines) + "\n")
    compiler = os.environ.get("CXX") or shutil.which("c++") or "g++"
    built = subprocess.run([compiler, "-std=c++20", "-O0", f"-I{sources.parent}", str(source), "-o",
                            str(program)], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return json.loads(subprocess.run([program], capture_output=True, check=True).stdout)


def differences(ours):
    found = []
    for name, layout in ours["structs"].items():
        want = witness_layout(name, witness_structs()[name])
        if want["size"] is not None and layout["size"] != want["size"]:
            found.append(f"{name}: size {layout['size']}, the witness says {want['size']}")
        for field, offset in want["fields"].items():
            if layout["fields"][field] != offset:
                found.append(f"{name}.{field} stands at {layout['fields'][field]}, "
                             f"the witness says {offset}")
    for name, value in witness_enumerators().items():
        if ours["enumerators"][name] != value:
            found.append(f"{name} is {ours['enumerators'][name]}, the witness says {value}")
    return found


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return dump(SOURCES, tmp_path_factory.mktemp("abi"))


def test_layouts_and_enumerators_agree(ours):
    assert differences(ours) == []


def test_the_table_has_the_witness_order(ours):
    table = ours["structs"]["PJRT_Api"]["fields"]
    slots = {name: (offset - witness.VTABLE_OFFSET) // 8
             for name, offset in table.items() if offset >= witness.VTABLE_OFFSET}
    assert slots == witness.SLOT
    assert len(slots) == 138


def test_sizes_of_extensions_agree():
    """src/pjrt/capabilities.cc knows which extensions of a plugin are short."""
    text = (SOURCES / "capabilities.cc").read_text()
    ours = {name: int(size) for name, size in re.findall(r'\{"(\w+)", (\d+)\},', text)}
    assert len(ours) == 25
    theirs = {match[1].lower().replace("_", ""): size for name, size in vars(witness).items()
              if (match := re.fullmatch(r"PJRT_(\w+)_Extension_STRUCT_SIZE", name))}
    compared = {name: theirs.pop(name.replace("_", ""), 0) for name in ours}
    assert ours == compared
    assert theirs == {}


def test_enough_is_compared(ours):
    # Guards the test itself: an empty comparison would pass.
    assert len(ours["structs"]) >= 150
    assert len(ours["enumerators"]) >= 80


def test_structs_on_one_side_have_a_reason():
    declared, known = declared_structs(SOURCES), set(witness_structs())
    assert declared - known == set()
    assert [name for name in sorted(known - declared) if not ONLY_THEIRS.match(name)] == []


@pytest.mark.parametrize("name, change", [
    ("c_abi_client.h", ("  const char* compile_options;\n  size_t compile_options_size;\n",
                        "  size_t compile_options_size;\n  const char* compile_options;\n")),
    ("c_abi_executable.h", ("  int launch_id;\n", "")),
    ("c_abi_base.h", ("PJRT_Buffer_Type_F32 = 11", "PJRT_Buffer_Type_F32 = 12")),
    ("c_abi.h", ("  PJRT_Error* (*PJRT_Memory_Id)(PJRT_Memory_Id_Args*);\n", "")),
])
def test_a_change_is_noticed(name, change, tmp_path):
    copy = tmp_path / "pjrt"
    shutil.copytree(SOURCES, copy, ignore=lambda _, names: [n for n in names if "c_abi" not in n])
    text = (copy / name).read_text()
    assert change[0] in text
    (copy / name).write_text(text.replace(*change))
    try:
        found = differences(dump(copy, tmp_path))
    except AssertionError as error:  # The compiler itself objects to a field that is gone.
        found = str(error)
    assert found
