#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Turns the tables of libibverbs/abi into rows that the ABI tests compile in C and in C++.

abi_layout_rows.inc     LAYOUT(type, bytes), FIELD(type, member, offset, bytes), OFFSET(type, member, offset)
abi_value_rows.inc      VALUE(name, value) for every constant
abi_signature_rows.inc  SIGNATURE(name, returns, (parameter types)) for every function
"""
import argparse
import json
import pathlib

# Sections of uverbs_structs.json that are plain { name: number }.
PLAIN = ("attr_flags", "objects", "write_commands", "write_ex_commands", "write_constants")
# ... and those that are { group: { name: number } }.
GROUPED = ("attrs", "enums", "write_enums")


def layout_rows(structures):
    for name, structure in structures.items():
        tag = f"{structure['kind']} {name}"
        if structure["bytes"] == 0:  # has a size in C++
            continue
        yield f"LAYOUT({tag}, {structure['bytes']})"
        for field, offset, size, kind in structure["fields"]:
            if field.endswith("<anon>") or " : " in kind:
                continue
            if size == 0:
                # The members that stand loose in a request do without the kernel's driver_data.
                if not field.endswith("driver_data"):
                    yield f"OFFSET({tag}, {field}, {offset})"
            else:
                yield f"FIELD({tag}, {field}, {offset}, {size})"


def numbers(uverbs, enums):
    for section in PLAIN:
        yield from uverbs[section].items()
    for section in GROUPED:
        for group in uverbs[section].values():
            yield from group.items()
    for methods in uverbs["methods"].values():
        for name, method in methods.items():
            yield name, method["id"]
    for name, value in uverbs["id_namespace"].items():
        if name != "note":
            yield name, value
    for group, names in uverbs["netlink"].items():
        if group != "type_encoding":
            yield from names.items()
    yield "RDMA_VERBS_IOCTL", uverbs["ioctl"]["request_value"]
    for group, names in enums.items():
        if group != "about":
            yield from names.items()


def value_rows(uverbs, enums):
    seen = {}
    for name, value in numbers(uverbs, enums):
        if seen.setdefault(name, value) != value:
            raise SystemExit(f"{name} has two values: {seen[name]} and {value}")
    for name, value in seen.items():
        number = str(value) if value < 0 else f"{value}ULL"
        yield f"VALUE({name}, {number})"


def signature_rows(signatures):
    for group in ("public", "driver"):
        for name, function in signatures[group].items():
            types = [kind for _, kind in function["params"]]
            yield f"SIGNATURE({name}, {function['returns']}, ({', '.join(types) or 'void'}))"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=pathlib.Path, help="folder of the tables")
    parser.add_argument("output", type=pathlib.Path, help="folder to write to")
    args = parser.parse_args()
    uverbs, layouts, enums, signatures = (
        json.loads((args.tables / f"{name}.json").read_text())
        for name in ("uverbs_structs", "layouts", "enums", "signatures"))

    rows = {}
    # A structure may stand in two tables; both are checked.
    rows["abi_layout_rows.inc"] = [
        row for table in (uverbs["structs"], layouts["public"], layouts["driver"])
        for row in layout_rows(table)]
    rows["abi_value_rows.inc"] = list(value_rows(uverbs, enums))
    # Only programs that are linked statically see the functions for that.
    signatures["public"] = {name: function for name, function in signatures["public"].items()
                            if name not in ("ibv_static_providers", "__ibv_get_device_list")}
    rows["abi_signature_rows.inc"] = list(signature_rows(signatures))
    for name, lines in rows.items():
        (args.output / name).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
