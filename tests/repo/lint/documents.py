"""Documents and code agree, and links lead somewhere."""

import json
import os
import posixpath
import re

from tree import Finding, line_of


def without_code(text):
    """Markdown with code blanked: an array index there is no link."""

    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])

    text = re.sub(r"^( *)(```+).*?^\1\2", blank, text, flags=re.M | re.S)
    return re.sub(r"(`+)(?:(?!\1).)+?\1", blank, text)


def anchors(text):
    """The anchors that headings get, as the usual renderers make them."""
    found = set()
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    for heading in re.findall(r"^#{1,6}\s+(.*?)\s*#*$", text, re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = 0
        while (unique := f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(unique)
    return found


def links(tree):
    """Every relative link of a document leads to a file that is there, and to a heading in it."""
    for path, text in tree.texts(".md"):
        for match in re.finditer(r"\]\(<?([^)\s>]+)>?[^)]*\)", without_code(text)):
            target, _, anchor = match[1].partition("#")
            line = line_of(text, match.start())
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            full = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            if not target:
                full = path
            elif not (tree.root / full).exists():
                yield Finding(path, line, f"there is no {target}")
                continue
            if anchor and full.endswith(".md") and anchor not in anchors(tree.text(full) or ""):
                yield Finding(path, line, f"{full} has no heading #{anchor}")


def enumerators(tree, path, name):
    """name -> number of an enum."""
    body = re.search(rf"enum class {name}\b[^{{]*{{(.*?)}}", tree.code(path), re.S)
    if not body:
        return {}
    return {word: int(number) for word, number in re.findall(r"(\w+)\s*=\s*(\d+)", body[1])}


def table_rows(text):
    return [line for line in text.splitlines() if line.lstrip().startswith("|")]


def error_table(tree):
    """docs/architecture.md says of every error code what it does to compile-or-load."""
    source, document = "include/precast/error.h", "docs/architecture.md"
    if not tree.has(source) or not tree.has(document):
        yield Finding(document, 0, f"this document or {source} is missing")
        return
    codes = enumerators(tree, source, "ErrorCode")
    if not codes:
        yield Finding(source, 0, "no enum class ErrorCode")
    rows = "\n".join(table_rows(tree.text(document)))
    for code in codes:
        if not re.search(rf"\b{code}\b", rows):
            yield Finding(document, 0, f"no table has a row for the error code {code}")


def exit_code_table(tree):
    """docs/cli.md has every exit code of the command, and no other."""
    source, document = "src/cli/exit_code.h", "docs/cli.md"
    if not tree.has(source) or not tree.has(document):
        yield Finding(document, 0, f"this document or {source} is missing")
        return
    section = re.search(r"^#+ Exit codes\s*$(.*?)(?=^#|\Z)", tree.text(document), re.M | re.S)
    if not section:
        yield Finding(document, 0, "no section 'Exit codes'")
        return
    rows = "\n".join(table_rows(section[1]))
    told = {int(number) for number in re.findall(r"^\|\s*(\d+)\s*\|", rows, re.M)}
    made = set(enumerators(tree, source, "ExitCode").values())
    if not made:
        yield Finding(source, 0, "no enum class ExitCode")
    for number in sorted(made ^ told):
        where = "not in the table" if number in made else "in the table, but the command has none"
        yield Finding(document, 0, f"exit code {number} is {where}")


def entry_points(tree):
    """The license, and the one script that runs every check."""
    run = tree.root / ".ci/run"
    if not run.is_file():
        yield Finding(".ci/run", 0, "it is missing")
    else:
        if not os.access(run, os.X_OK):
            yield Finding(".ci/run", 0, "it is not executable")
        if not re.search(r"^[^#]*\bmake test\b", run.read_text(), re.M):
            yield Finding(".ci/run", 0, "it does not call make test")
    license_file = tree.root / "LICENSE"
    if not license_file.is_file() or "Apache License" not in license_file.read_text():
        yield Finding("LICENSE", 0, "it is missing, or not the Apache License")


DECLARATION = re.compile(
    r"^(?:template\b.*|(?:class|struct|enum(?: class)?|union)\b.*[{]$|using \w+ =.*"
    r"|typedef struct \w+ [{]|PRECAST_(?:EXPORT|C_API)\b.*|inline constexpr\b.*|#define \w+[(].*)"
)

NAME = re.compile(
    r"(?:class|struct|enum class|using|typedef struct)\s+(?:\[\[.*?\]\]\s*)?(?:PRECAST_EXPORT\s+)?(\w+)"
)


def public_headers_are_documented(tree):
    """A public header says what it is, and what stands first after a blank line says what it is for.

    So a comment may speak for a group of declarations; a word behind the declaration will do too,
    and what the header is named for has the comment at its top.
    """
    for path, text in tree.texts(".h"):
        if not path.startswith("include/"):
            continue
        lines = text.split("\n")
        if not lines[0].startswith("// "):
            yield Finding(path, 1, "a public header begins with a comment that says what it is")
        for number, line in enumerate(lines[1:], 2):
            if lines[number - 2] != "" or not DECLARATION.match(line) or "//" in line:
                continue
            name = NAME.match(lines[number] if line.startswith("template") else line)
            if line.startswith("#define") and line.partition("(")[0].endswith("_"):
                continue  # the inside of another macro
            if not (name and re.search(rf"\b{name[1]}\b", text.partition("#pragma once")[0])):
                yield Finding(path, number, "a public declaration without a comment")


def presets_are_told(tree):
    """docs/testing.md says what every preset is for."""
    source, document = "CMakePresets.json", "docs/testing.md"
    if not tree.has(source) or not tree.has(document):
        yield Finding(document, 0, f"this document or {source} is missing")
        return
    presets = json.loads(tree.text(source))
    rows = "\n".join(table_rows(tree.text(document)))
    for preset in presets["configurePresets"]:
        name = preset["name"]
        if not preset.get("hidden") and not re.search(rf"^\|\s*`{name}`\s*\|", rows, re.M):
            yield Finding(document, 0, f"no table has a row for the preset {name}")


RULES = [
    links,
    error_table,
    exit_code_table,
    entry_points,
    public_headers_are_documented,
    presets_are_told,
]
