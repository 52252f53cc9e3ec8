#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What libcxiverbs.so.1 exports, against the calls that the headers of direct verbs declare.

Usage: exports_test.py LIBRARY FOLDER_OF_HEADERS
"""

import pathlib
import re
import subprocess
import sys

NODE = "CXIVERBS_1.0"


def declared(folder):
    """The functions that the headers declare: those that they define themselves are inline."""
    text = "".join(header.read_text(encoding="utf-8")
                   for header in pathlib.Path(folder).glob("cxidv*.h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^#define .*?[^\\]$", "", text, flags=re.M | re.S)
    text = re.sub(r"^static inline .*?^}", "", text, flags=re.M | re.S)
    return set(re.findall(r"\b(cxidv_\w+)\([^;{]*\);", text))


def exported(library):
    """{name: version} of the dynamic symbols that a library defines; a default version has @@."""
    text = subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True, text=True,
                          capture_output=True).stdout
    found = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 8 or fields[4] not in ("GLOBAL", "WEAK") or fields[6] in ("UND", "ABS"):
            continue
        name, at, version = fields[7].partition("@")
        found[name] = at + version
    return found


def main():
    library, folder = sys.argv[1:]
    have, want = exported(library), declared(folder)
    wrong = [f"declared and not exported: {name}" for name in sorted(want - set(have))]
    wrong += [f"exported and not declared: {name}" for name in sorted(set(have) - want)]
    wrong += [f"{name}{version} is not of {NODE}" for name, version in sorted(have.items())
              if version != f"@@{NODE}"]
    if not want:
        wrong.append(f"{header} declares nothing")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
