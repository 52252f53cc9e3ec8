#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Write one line of C++ for every structure, scalar field and other member of layouts.json.

It reads the table by itself: what the header generator makes of the table is what is tested.
"""

import json
import pathlib
import sys


def main(table, out):
    layouts = json.loads(pathlib.Path(table).read_text())
    del layouts["_about"]
    sizes, scalars, members = [], [], []
    for name, layout in layouts.items():
        tag = f"{layout['kind']}, {name}"
        sizes.append(f"SIZE({tag}, {layout['bytes']})")
        for field, lsb, width, *kind in layout["fields"]:
            if not kind:
                scalars.append(f"SCALAR({tag}, {field}, {lsb}, {width})")
            elif kind[0] == "[0]":
                members.append(f"TAIL({tag}, {field}, {lsb})")
            elif kind[0].startswith("["):
                members.append(f"MEMBER({tag}, {field}, {lsb}, {width * int(kind[0][1:-1])})")
            else:
                members.append(f"MEMBER({tag}, {field}, {lsb}, {width})")
    for what, lines in (("sizes", sizes), ("scalars", scalars), ("members", members)):
        (pathlib.Path(out) / f"cassini_{what}.inc").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
