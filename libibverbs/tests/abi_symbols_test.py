#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What the library exports, against what is recorded in libibverbs/abi/symbols.json.

Usage: abi_symbols_test.py library symbols.json
"""
import json
import pathlib
import subprocess
import sys
import unittest


def exported(library):
    """Returns {name: {version: (kind, is default)}} of the dynamic symbols that library defines."""
    text = subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True,
                          capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 8 or fields[4] not in ("GLOBAL", "WEAK") or fields[6] in ("UND", "ABS"):
            continue
        name, at, version = fields[7].partition("@")
        kind = {"FUNC": "function", "OBJECT": "object"}.get(fields[3], fields[3])
        found.setdefault(name, {})[version.lstrip("@")] = (kind, at + version[:1] == "@@")
    return found


def recorded(table):
    return {name: {entry["version"]: (entry.get("kind", "function"), entry["default"])
                   for entry in versions}
            for name, versions in table["symbols"].items()}


def parents(library):
    """Returns {node: the node that it builds on} of the versions that library defines."""
    text = subprocess.run(["readelf", "-W", "--version-info", library], check=True,
                          capture_output=True, text=True).stdout
    found, node, inside = {}, None, False
    for line in text.splitlines():
        if line.startswith("Version definition section"):
            inside = True
        elif line.startswith("Version needs section"):
            inside = False
        elif inside and "Name: " in line and "Flags: BASE" not in line:
            node = line.split("Name: ")[1].strip()
            found[node] = None
        elif inside and "Parent 1: " in line:
            found[node] = line.split("Parent 1: ")[1].strip()
    return found


class ExportedSymbols(unittest.TestCase):
    library = None
    table = None

    def test_names_versions_and_kinds_are_as_recorded(self):
        self.maxDiff = None
        have, want = exported(self.library), recorded(self.table)
        self.assertEqual({name: have.get(name) for name in want}, want)

    def test_nothing_else_leaves_the_library(self):
        have, want = exported(self.library), recorded(self.table)
        self.assertEqual(sorted(set(have) - set(want)), [])

    def test_each_version_builds_on_the_one_before(self):
        self.assertEqual(parents(self.library), self.table["parents"])


if __name__ == "__main__":
    ExportedSymbols.library = sys.argv[1]
    ExportedSymbols.table = json.loads(pathlib.Path(sys.argv[2]).read_text())
    unittest.main(argv=sys.argv[:1], verbosity=2)
