#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Compares what libibverbs.so.1 exports and needs with what is recorded.

Usage: symbols_test.py LIBRARY ABI_SYMBOLS_JSON
"""

import json
import re
import subprocess
import sys

# What the library may need at run time: libc (in the parts that older ones have) and libnl.
ALLOWED_NEEDED = re.compile(
    r"^(libc|libpthread|libdl|ld-linux[\w-]*|libnl-3|libnl-route-3)\.so\.\d+$")
# Sanitized builds need their runtime as well.
SANITIZERS = re.compile(r"^lib(asan|ubsan|tsan|lsan)\.so\.\d+$")


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def exported(library):
    """Yields (name, version, is_default, is_object) of every exported symbol."""
    for line in readelf("--dyn-syms", library).splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].endswith(":") or fields[6] in ("UND", "ABS"):
            continue
        kind, bind, name = fields[3], fields[4], fields[7]
        if bind not in ("GLOBAL", "WEAK"):
            continue
        base, _, version = name.partition("@")
        yield base, version.lstrip("@"), version.startswith("@"), kind == "OBJECT"


def recorded(path):
    with open(path, encoding="utf-8") as file:
        symbols = json.load(file)["symbols"]
    for name, versions in symbols.items():
        for entry in versions:
            yield name, entry["version"], entry["default"], entry.get("kind") == "object"


def node_parents(library):
    """The version nodes that the library defines, each with the one that it builds on."""
    text = readelf("--version-info", library)
    text = text[text.index("Version definition section"):]
    text = text.split("Version needs section")[0]
    parents, node = {}, None
    for line in text.splitlines():
        if match := re.search(r"Flags: (\w+|none).*Name: (\S+)", line):
            node = None if match[1] == "BASE" else match[2]
            if node:
                parents[node] = None
        elif match := re.search(r"Parent 1: (\S+)", line):
            if node:
                parents[node] = match[1]
    return parents


def show(title, symbols):
    for name, version, default, is_object in sorted(symbols):
        print(f"{title}: {name}{'@@' if default else '@'}{version}"
              f"{' (data)' if is_object else ''}")


def main():
    library, abi = sys.argv[1:]
    have, want = set(exported(library)), set(recorded(abi))
    show("missing", want - have)
    show("not recorded", have - want)
    failed = have != want

    with open(abi, encoding="utf-8") as file:
        want_parents = json.load(file)["parents"]
    have_parents = node_parents(library)
    if have_parents != want_parents:
        print(f"version nodes: {have_parents}\nrecorded:      {want_parents}")
        failed = True

    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", library))
    for name in needed:
        if not ALLOWED_NEEDED.match(name) and not SANITIZERS.match(name):
            print(f"needs {name}")
            failed = True
    if "libibverbs.so.1" not in re.findall(r"\(SONAME\).*\[(.*)\]", readelf("-d", library)):
        print("wrong soname")
        failed = True
    if not want:
        print("nothing recorded")
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
