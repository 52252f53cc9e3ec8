#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Makes the members of a kernel header's structures available without their names.

For every structure of the header the output has a macro _STRUCT_<name> that stands for an unnamed
structure with the same members. Providers put it behind the standard part of a request, so that they
can write cmd.field instead of cmd.part.field (see DECLARE_DRV_CMD in infiniband/kern-abi.h).
"""
import argparse
import pathlib
import re


def structures(text):
    """Yields (name, lines between the braces, attributes) of every structure at the left margin."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    for match in re.finditer(r"^struct (\w+) \{\n(.*?)^\}([^;\n]*);", text, flags=re.S | re.M):
        lines = [line.strip() for line in match.group(2).splitlines()]
        yield match.group(1), [line for line in lines if line], match.group(3)


def loose(line):
    """A trailing array may stand in a union only if its length is written out as zero."""
    return re.sub(r"\[\];$", "[0];", line)


def convert(text, include):
    """Returns the header that goes with the kernel header whose text and name are given."""
    guard = "KERNEL_ABI_" + re.sub(r"\W", "_", include.split("/")[-1]).upper()
    out = [
        "/* Made from the header below by gen_kernel_abi.py: change that, not this. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        f"#include <{include}>",
    ]
    for name, lines, attributes in structures(text):
        body = " \\\n".join("\t\t" + loose(line) for line in lines)
        out.append(f"#define _STRUCT_{name} \\\n\tstruct {{ \\\n{body} \\\n\t}}{attributes}")
    out.append("#endif\n")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("header", type=pathlib.Path, help="kernel header to read")
    parser.add_argument("include", help="name by which programs include it")
    parser.add_argument("output", type=pathlib.Path)
    args = parser.parse_args()
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(convert(args.header.read_text(), args.include))


if __name__ == "__main__":
    main()
