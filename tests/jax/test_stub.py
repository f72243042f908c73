"""The type stub of the extension says what the extension has."""

import ast
import pathlib
import re

from precast import _precast

STUB = ast.parse((pathlib.Path(_precast.__file__).parent / "_precast.pyi").read_text())


def parameters(function):
    """The names by which a caller can give them, and how many there are that have none."""
    arguments = function.args
    unnamed = [one for one in arguments.posonlyargs if one.arg != "self"]
    return len(unnamed), [one.arg for one in (*arguments.args, *arguments.kwonlyargs) if one.arg != "self"]


def signature(function):
    """The parameters of one of nanobind's functions, by name."""
    [(said, *_)] = function.__nb_signature__
    # Where it has a default value nanobind writes its number.
    return parameters(ast.parse(re.sub(r"= \\\d+", "= ...", said) + ": ...").body[0])


def stub_of(body):
    """Functions, properties and classes of a part of the stub, by name."""
    return {one.name: one for one in body if isinstance(one, ast.FunctionDef | ast.ClassDef)}


def public(holder):
    return {name: value for name, value in vars(holder).items()
            if not name.startswith("_") or name == "__init__" and hasattr(value, "__nb_signature__")}


def check(stub, holder):
    have = {name: value for name, value in public(holder).items() if callable(value) or isinstance(value, property)}
    assert set(stub) == set(have)
    for name, value in have.items():
        said = stub[name]
        if isinstance(said, ast.FunctionDef) and hasattr(value, "__nb_signature__"):
            assert parameters(said) == signature(value), name
        if isinstance(said, ast.ClassDef) and not issubclass(value, Exception) and not hasattr(value, "__members__"):
            check(stub_of(said.body), value)


def test_it_has_the_same_names_and_parameters():
    check(stub_of(STUB.body), _precast)


def test_policies_have_the_same_values():
    said = {line.targets[0].id: line.value.value for line in stub_of(STUB.body)["Policy"].body}
    assert said == {policy.name: policy.value for policy in _precast.Policy}
