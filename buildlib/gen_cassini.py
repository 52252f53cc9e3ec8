#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Write the Cassini headers from the tables in kernel-headers/tables.

cassini_user_defs.h  enums, constants and bit-field structures for C11 and C++20
cassini_fields.hpp   the same structures as C++ field types
cassini_csrs.hpp     control and status registers as C++ field types and as a table
cassini_registers.hpp  the same registers by offset, with what software may do to which bit
cassini_telemetry.hpp  telemetry items and where they are read
cassini_cntr_defs.h  numbers of telemetry items and event counters for C11 and C++20
"""

import argparse
import json
import pathlib
import re
import sys

import cassini_registers

LICENCE = "SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB"
PLAIN = {8: "uint8_t", 16: "uint16_t", 32: "uint32_t", 64: "uint64_t"}
INT_MAX = 0x7FFFFFFF


class TableError(Exception):
    """A table that contradicts itself; the text is one line for the person who edits it."""


class Field:
    """One field: where it lies, and whether it is an array or a structure of its own."""

    def __init__(self, owner, row, layouts):
        self.name, self.lsb, self.width = row[0], row[1], row[2]
        self.type, self.count = None, 1
        self.is_array = False
        kind = row[3] if len(row) > 3 else None
        where = f"{owner}.{self.name}"
        if not re.fullmatch(r"[A-Za-z_]\w*", self.name):
            raise TableError(f"{owner}: '{self.name}' is not a field name")
        if kind is not None and kind.startswith("["):
            self.is_array = True
            self.count = int(kind[1:-1])
            if self.width not in PLAIN or self.lsb % 8:
                raise TableError(f"{where}: array elements must be whole, aligned bytes")
        elif kind is not None:
            if kind not in layouts:
                raise TableError(f"{where}: type {kind} is not defined before its use")
            if layouts[kind].bytes * 8 != self.width or self.lsb % 8:
                raise TableError(f"{where}: {self.width} bits at {self.lsb} do not hold a {kind}")
            self.type = layouts[kind]
        elif not 1 <= self.width <= 64:
            raise TableError(f"{where}: a field of {self.width} bits must be 1 to 64 bits wide")

    @property
    def end(self):
        return self.lsb + self.width * self.count

    @property
    def is_tail(self):
        return self.is_array and self.count == 0

    @property
    def is_plain(self):
        """Whether C can hold it as an ordinary member instead of a bit-field."""
        return self.type or self.is_array or (self.width in PLAIN and self.lsb % 8 == 0)


class Layout:
    """A structure or union of the table, checked."""

    def __init__(self, name, entry, layouts):
        self.name, self.bytes = name, entry["bytes"]
        self.is_union = entry["kind"] == "union"
        if entry["kind"] not in ("struct", "union"):
            raise TableError(f"{name}: kind '{entry['kind']}' is neither struct nor union")
        self.fields = [Field(name, row, layouts) for row in entry["fields"]]
        names = [field.name for field in self.fields]
        for field in self.fields:
            if names.count(field.name) > 1:
                raise TableError(f"{name}.{field.name}: the name is used twice")
            if field.name in ("bytes", name):
                raise TableError(f"{name}.{field.name}: the name is taken")
            if field.is_tail and field.lsb != self.bytes * 8:
                raise TableError(f"{name}.{field.name}: an array without length must be the end")
            if field.end > self.bytes * 8:
                raise TableError(f"{name}.{field.name}: ends at bit {field.end}, "
                                 f"the structure at bit {self.bytes * 8}")
        if not self.is_union:
            self.fields.sort(key=lambda field: (field.lsb, field.end))
            for before, after in zip(self.fields, self.fields[1:]):
                if after.lsb < before.end:
                    raise TableError(f"{name}.{after.name}: overlaps {before.name} "
                                     f"(bit {after.lsb} < {before.end})")

    @property
    def keyword(self):
        return "union" if self.is_union else "struct"


def load(path):
    table = json.loads(pathlib.Path(path).read_text())
    table.pop("_about", None)
    return table


def check_layouts(table):
    layouts = {}
    for name, entry in table.items():
        layouts[name] = Layout(name, entry, layouts)
    return layouts


# C: enums, constants, bit-field structures ------------------------------------------------------


def number(value):
    """A C constant that keeps its value on every platform."""
    text = str(value) if value < 65536 else hex(value)
    if value <= INT_MAX:
        return text
    return text + ("u" if value <= 0xFFFFFFFF else "ull")


def c_enums(enums):
    lines, seen = [], {}
    for name, members in enums.items():
        wide = []
        lines.append(f"enum {name} {{")
        for member, value in members.items():
            if member in seen:
                raise TableError(f"{name}.{member}: already in {seen[member]}")
            seen[member] = name
            if value <= INT_MAX:
                lines.append(f"\t{member} = {number(value)},")
            else:  # C11 enumerators are ints
                wide.append(f"#define {member} {number(value)}")
        lines.append("};")
        if len(wide) == len(members):
            raise TableError(f"{name}: no enumerator fits an int")
        lines += wide + [""]
    return lines


def c_constants(constants, enums):
    taken = {member for members in enums.values() for member in members}
    for name in constants:
        if name in taken:
            raise TableError(f"{name}: a constant and an enumerator have this name")
    return [f"#define {name} {number(value)}" for name, value in constants.items()]


def c_member(field):
    if field.type:
        return f"{field.type.keyword} {field.type.name} {field.name};"
    if field.is_array:
        return f"{PLAIN[field.width]} {field.name}[{field.count or ''}];"
    if field.is_plain:
        return f"{PLAIN[field.width]} {field.name};"
    return f"{PLAIN[32 if field.width <= 32 else 64]} {field.name} : {field.width};"


def c_gap(first, end, named):
    """Members for the unused bits from first to end: bits up to a whole byte, bytes, bits."""
    def bits(start, stop):
        name = f"reserved_{start:x} " if named else ""
        return f"{PLAIN[32]} {name}: {stop - start};"
    lines = []
    if first < end and first % 8:
        stop = min(end, (first + 7) // 8 * 8)
        lines.append(bits(first, stop))
        first = stop
    whole = (end - first) // 8
    if whole and named:
        size = f"[{whole}]" if whole > 1 else ""
        lines.append(f"uint8_t reserved_{first:x}{size};")
        first += 8 * whole
    while not named and first + 32 <= end:
        lines.append(bits(first, first + 32))
        first += 32
    if first < end:
        lines.append(bits(first, end))
    return lines


def c_in_order(fields, size_bits, named=True):
    """The members of fields that follow each other, with the gaps between them."""
    lines, at = [], 0
    for field in fields:
        if field.is_tail:
            continue
        lines += c_gap(at, field.lsb, named) + [c_member(field)]
        at = field.end
    if named:
        lines += c_gap(at, size_bits, named)
    return lines + [c_member(field) for field in fields if field.is_tail]


def union_groups(fields):
    """Runs of fields that do not overlap: each becomes one alternative of the union."""
    groups, at = [], 0
    for field in fields:
        if not groups or field.lsb < at:
            groups.append([])
        groups[-1].append(field)
        at = field.end
    return groups


def c_layout(layout):
    lines = [f"{layout.keyword} {layout.name} {{"]
    if not layout.is_union:
        lines += ["\t" + line for line in c_in_order(layout.fields, layout.bytes * 8)]
    else:
        for group in union_groups(layout.fields):
            if len(group) == 1 and group[0].lsb == 0 and group[0].is_plain:
                lines.append("\t" + c_member(group[0]))
                continue
            lines.append("\t__extension__ struct {")
            lines += ["\t\t" + line for line in c_in_order(group, layout.bytes * 8, named=False)]
            lines.append("\t} __attribute__((packed));")
    lines.append("} __attribute__((packed));")
    tag = f"{layout.keyword} {layout.name}"
    lines.append(f"CASSINI_ASSERT(sizeof({tag}) == {layout.bytes});")
    lines += [f"CASSINI_ASSERT(offsetof({tag}, {field.name}) == {field.lsb // 8});"
              for field in layout.fields if field.is_plain]
    return lines + [""]


def c_registers(csrs, user_csrs, layouts):
    lines = []
    for name, form in user_csrs.items():
        if name not in csrs:
            raise TableError(f"{name}: no such register")
        csr = csrs[name]
        for what in ("offset", "size", "entries"):
            lines.append(f"#define {name.upper()}_{what.upper()} {number(csr[what])}")
        if form == "layout":
            if name in layouts:
                raise TableError(f"{name}: a register and a structure have this name")
            rows = [field[:3] for field in csr["fields"]]
            entry = {"kind": "struct", "bytes": csr["size"], "fields": rows}
            lines += [""] + c_layout(Layout(name, entry, {}))
        elif form != "offset":
            raise TableError(f"{name}: '{form}' is neither layout nor offset")
    return lines


def user_defs(layouts, enums, constants, csrs, user_csrs):
    lines = [
        f"/* {LICENCE} */",
        "/*",
        " * Commands, events, descriptors and wire headers of the HPE Cassini NIC.",
        " * Generated by gen_cassini.py: change the tables, not this file.",
        " *",
        " * Bit-fields start at the least significant bit. Unused bits are named by their bit offset in",
        " * hex; they must be zero in what software writes.",
        " */",
        "#ifndef CASSINI_USER_DEFS_H",
        "#define CASSINI_USER_DEFS_H",
        "",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        "#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__",
        "#error \"Cassini structures are laid out for little-endian processors\"",
        "#endif",
        "",
        "#ifdef __cplusplus",
        "#define CASSINI_ASSERT(fact) static_assert(fact, #fact)",
        "#else",
        "#define CASSINI_ASSERT(fact) _Static_assert(fact, #fact)",
        "#endif",
        "",
    ]
    lines += c_constants(constants, enums) + [""] + c_enums(enums)
    for layout in layouts.values():
        lines += c_layout(layout)
    lines += ["/* Registers that programs use */"] + c_registers(csrs, user_csrs, layouts)
    lines += ["", "#undef CASSINI_ASSERT", "", "#endif /* CASSINI_USER_DEFS_H */", ""]
    return "\n".join(lines)


# C++: fields as types ---------------------------------------------------------------------------


def cpp_field(field, base, outer, indent):
    """The type of one field; base is where its structure starts in the outermost one.

    A member type cannot be called like the type around it: then it gets an underscore.
    """
    pad, lsb = "  " * indent, base + field.lsb
    name = field.name + ("_" if field.name == outer else "")
    if field.type:
        lines = [f"{pad}struct {name} : StructField<{lsb}, {field.type.bytes}> {{"]
        for inner in field.type.fields:
            lines += cpp_field(inner, lsb, name, indent + 1)
        return lines + [f"{pad}}};"]
    if field.is_tail:
        return [f"{pad}using {name} = TailField<{lsb}>;"]
    if field.is_array:
        return [f"{pad}using {name} = ArrayField<{lsb}, {field.width}, {field.count}>;"]
    return [f"{pad}using {name} = Field<{lsb}, {field.width}>;"]


def cpp_layout(layout):
    lines = [f"struct {layout.name} {{", f"  static constexpr std::size_t bytes = {layout.bytes};"]
    for field in layout.fields:
        lines += cpp_field(field, 0, layout.name, 1)
    lines.append("};")
    if not layout.is_union and layout.fields:
        names = [f"{layout.name}::{field.name}" for field in layout.fields]
        lines.append(f"static_assert(apart<{layout.bytes}, " + ", ".join(names) + ">());")
    return lines + [""]


def cpp_preamble(what):
    return [
        f"// {LICENCE}",
        f"// {what}",
        "// Generated by gen_cassini.py: change the tables, not this file.",
        "#pragma once",
        "",
    ]


def cpp_fields(layouts):
    lines = cpp_preamble("Cassini structures as field types: see cassini_field.hpp.")
    lines += ["#include \"ethernet/cassini_field.hpp\"", "", "namespace cassini {", ""]
    for layout in layouts.values():
        lines += cpp_layout(layout)
    return "\n".join(lines + ["}  // namespace cassini", ""])


def cpp_csr_field(owner, row):
    name, lsb, width = row[:3]
    if width <= 64:
        return f"  using {name} = Field<{lsb}, {width}>;"
    if width % 64 or lsb % 64:
        raise TableError(f"{owner}.{name}: {width} bits at {lsb} are not an array of 64-bit counters")
    return f"  using {name} = ArrayField<{lsb}, 64, {width // 64}>;"


def cpp_csrs(csrs):
    lines = cpp_preamble("Cassini control and status registers: places, sizes and fields.")
    lines += [
        "#include <algorithm>",
        "#include <string_view>",
        "",
        "#include \"ethernet/cassini_field.hpp\"",
        "",
        "namespace cassini {",
        "",
        "/// One register, or an array of equal ones. Offsets count from the start of the CSR aperture.",
        "struct Csr {",
        "  std::string_view name;",
        "  std::uint32_t offset;",
        "  std::uint32_t size;  ///< bytes of one entry",
        "  std::uint32_t entries;",
        "};",
        "",
        "namespace csr {",
        "",
    ]
    for name, entry in csrs.items():
        lines.append(f"struct {name} {{")
        for what, key in (("csr_offset", "offset"), ("csr_bytes", "size"), ("csr_entries", "entries")):
            lines.append(f"  static constexpr std::uint32_t {what} = {number(entry[key])};")
        seen = {"csr_offset", "csr_bytes", "csr_entries", name}
        for row in entry["fields"]:
            if row[0] in seen:
                raise TableError(f"{name}.{row[0]}: the name is used twice")
            seen.add(row[0])
            if row[1] + row[2] > entry["size"] * 8:
                raise TableError(f"{name}.{row[0]}: ends at bit {row[1] + row[2]}, "
                                 f"the register at bit {entry['size'] * 8}")
            lines.append(cpp_csr_field(name, row))
        lines += ["};"]
    lines += ["", "}  // namespace csr", "", "/// Every register, by name in ASCII order.",
              "inline constexpr Csr csr_table[] = {"]
    lines += [f"    {{\"{name}\", {number(entry['offset'])}, {entry['size']}, {entry['entries']}}},"
              for name, entry in sorted(csrs.items())]
    lines += [
        "};",
        "",
        "/// The register of that name, or null.",
        "constexpr const Csr* find_csr(std::string_view name) {",
        "  const auto* found = std::ranges::lower_bound(csr_table, name, {}, &Csr::name);",
        "  return found != std::ranges::end(csr_table) && found->name == name ? found : nullptr;",
        "}",
        "",
        "}  // namespace cassini",
        "",
    ]
    return "\n".join(lines)


def generate(tables, out):
    layouts = check_layouts(load(tables / "layouts.json"))
    enums, constants = load(tables / "enums.json"), load(tables / "constants.json")
    csrs, user_csrs = load(tables / "csrs.json"), load(tables / "user_csrs.json")
    items, counters = load(tables / "telemetry_items.json"), load(tables / "event_counters.json")
    cassini_registers.check_counters(counters["groups"], counters["counters"], csrs)
    items_resolved = cassini_registers.resolve_items(items, csrs)
    files = {
        "cassini_user_defs.h": user_defs(layouts, enums, constants, csrs, user_csrs),
        "cassini_fields.hpp": cpp_fields(layouts),
        "cassini_csrs.hpp": cpp_csrs(csrs),
        "cassini_registers.hpp": cassini_registers.registers_header(
            cpp_preamble("Cassini registers by offset: what software may do to which bit."), csrs,
            items_resolved),
        "cassini_telemetry.hpp": cassini_registers.telemetry_header(
            cpp_preamble("Cassini telemetry items: their names and where they are read."),
            items_resolved),
        "cassini_cntr_defs.h": cassini_registers.counters_header(LICENCE, items,
                                                                 counters["counters"]),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (out / name).write_text(text)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tables", type=pathlib.Path, required=True, help="folder of the tables")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the headers")
    options = parser.parse_args(arguments)
    try:
        generate(options.tables, options.out)
    except (TableError, OSError, ValueError, KeyError) as error:
        print(f"gen_cassini: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
