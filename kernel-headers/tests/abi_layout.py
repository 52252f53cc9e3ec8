#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Check that every structure of a kernel header has one layout, without padding, wherever it is used.

abi_layout.py HEADER INCLUDE_FOLDER REFERENCE_CC -- COMPILER FLAGS...

The reference compiler, a native one for C, says where every member lies; the other compiler must agree
on each of them. It only checks, so it can be one for another processor. Exits 77 (skipped) when it
cannot compile for what its flags ask for.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

STRUCTURE = re.compile(r"^struct (\w+) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
MEMBER = re.compile(r"(?P<type>(?:struct )?\w+)\s+(?P<name>\w+)(?:\[\w+\])?;")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
POINTERS = re.compile(r"\*\s*\w+\s*;|\b(?:unsigned|int|long|short|char|size_t|uint\d+_t)\b")


def whole_text(header):
    """The header, and those beside it that are parts of it."""
    text, seen, missing = "", set(), [header.name]
    while missing:
        name = missing.pop()
        seen.add(name)
        part = (header.parent / name).read_text()
        missing += set(re.findall(r"#include <rdma/(cxiverbs[\w-]*\.h)>", part)) - seen
        text += part
    return text


def structures(text):
    """Name -> members."""
    found = {}
    for name, body in STRUCTURE.findall(COMMENT.sub("", text)):
        if POINTERS.search(body):
            raise SystemExit(f"{name} has a member that is not of the kernel's types")
        found[name] = [member["name"] for member in MEMBER.finditer(body)]
    return found


def reference_layout(cc, include, members, folder):
    """(structure, member or None for the whole) -> (offset, size)."""
    lines = ["#include <stdio.h>", "#include <stddef.h>", "#include <rdma/cxiverbs-abi.h>",
             "int main(void) {"]
    for name, fields in members.items():
        lines.append(f'printf("{name} - 0 %zu\\n", sizeof(struct {name}));')
        lines += [f'printf("{name} {field} %zu %zu\\n", offsetof(struct {name}, {field}), '
                  f"sizeof(((struct {name} *)0)->{field}));" for field in fields]
    source, program = folder / "layout.c", folder / "layout"
    source.write_text("\n".join(lines + ["return 0;", "}", ""]))
    subprocess.run([cc, "-std=c11", f"-I{include}", str(source), "-o", str(program)], check=True)
    layout = {}
    for line in subprocess.run([program], check=True, capture_output=True,
                               text=True).stdout.splitlines():
        name, field, offset, size = line.split()
        layout[name, None if field == "-" else field] = (int(offset), int(size))
    return layout


def padding(layout, members):
    """What lies between the members, and members that do not lie on a multiple of their size."""
    faults = []
    for name, fields in members.items():
        end = 0
        for field in fields:
            offset, size = layout[name, field]
            if offset != end:
                faults.append(f"{name}.{field}: {offset - end} bytes without a name before it")
            end = offset + size
        if layout[name, None][1] != end or end % 8:
            faults.append(f"{name}: {end} bytes of members in {layout[name, None][1]}")
    return faults


def check_source(layout):
    lines = ["#include <rdma/cxiverbs-abi.h>", "#ifdef __cplusplus",
             "#define CHECK(fact) static_assert(fact, #fact)", "#else",
             "#define CHECK(fact) _Static_assert(fact, #fact)", "#endif"]
    for (name, field), (offset, size) in layout.items():
        if field is None:
            lines.append(f"CHECK(sizeof(struct {name}) == {size});")
        else:
            lines.append(f"CHECK(__builtin_offsetof(struct {name}, {field}) == {offset});")
            lines.append(f"CHECK(sizeof(((struct {name} *)0)->{field}) == {size});")
    return "\n".join(lines) + "\n"


def compiles(compiler):
    try:
        return subprocess.run([*compiler, "-fsyntax-only", "-"], check=False, text=True,
                              input="#include <linux/types.h>\n",
                              capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def main(header, include, reference, dashes, *compiler):
    assert dashes == "--"
    language = "c++" if "-xc++" in compiler else "c"
    if not compiles(compiler):
        print("skipped: no compiler and kernel headers for: " + " ".join(compiler))
        return 77
    text = whole_text(pathlib.Path(header))
    members = structures(text)
    asserted = set(re.findall(r"CXI_ABI_ASSERT_SIZE\((\w+), \d+\);", text))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        layout = reference_layout(reference, include, members, folder)
        faults = padding(layout, members)
        faults += [f"{name}: no CXI_ABI_ASSERT_SIZE" for name in sorted(members.keys() - asserted)]
        for fault in faults:
            print(fault)
        result = subprocess.run([*compiler, "-Wall", "-Wextra", "-Wpadded", "-Werror",
                                 f"-I{include}", "-fsyntax-only", "-"], check=False, text=True,
                                input=check_source(layout), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
    if result.returncode:
        print(result.stdout)
    print(f"{len(members)} structures, {len(layout) - len(members)} members, as {language}")
    return 1 if faults or result.returncode or not members else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
