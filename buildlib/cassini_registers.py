# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Registers and counters for gen_cassini: what software may do with which bit, and where a telemetry
item is read.

The name of a telemetry item is that of its place: the register without its prefix (and, of a block of
counters, without _cntrs), then the field, the index of the register and that of the element where
there are several. A register of one field may be named without it.
"""

import bisect
import re

WORD = (1 << 64) - 1
MOST_NAMED_ENTRIES = 256  # longer arrays are memories, not what an item is read from

# What software's part of an access does: keep the value, clear the bits that are one, or start
# something and keep nothing. All else is ignored.
KEEPS = {"SRW", "SRDW", "SRWS"}
CLEARS = {"SRW1", "SRW1C"}
STARTS = {"SWO", "SWS", "SDWS"}
READS_ONLY = {"SRO"}

# What every program may read, beside the registers with a telemetry item in them: what NIC it is.
PUBLIC = {"c_mb_sts_rev"}


def generations(name):
    """Bit 0: Cassini 1 has the register, bit 1: Cassini 2 has it."""
    return {"c1_": 1, "c2_": 2}.get(name[:3], 3)


def words_of(name, csr):
    """(keep, clear, start, reset) of each 64-bit word of one entry."""
    keep = clear = start = reset = 0
    for field in csr["fields"]:
        lsb, width = field[1], field[2]
        if len(field) < 4:
            continue  # a counter: the register that lies over it says what can be done
        mask = ((1 << width) - 1) << lsb
        access = field[3].split()[0]
        if access in KEEPS:
            keep |= mask
        elif access in CLEARS:
            clear |= mask
        elif access in STARTS:
            start |= mask
        elif access not in READS_ONLY:
            raise ValueError(f"{name}.{field[0]}: access '{field[3]}' is not known")
        if field[4] >> width:
            raise ValueError(f"{name}.{field[0]}: reset value {field[4]} has more than {width} bits")
        reset |= field[4] << lsb
    if csr["size"] % 8 or csr["offset"] % 8:
        raise ValueError(f"{name}: not made of whole, aligned words of 64 bits")
    return [tuple(bits >> (64 * word) & WORD for bits in (keep, clear, start, reset))
            for word in range(csr["size"] // 8)]


def public_registers(csrs, items):
    """Names of the registers that hold a telemetry item, or that anybody may read anyway."""
    offsets = sorted({where[0] for row in items for where in row[2:] if where})

    def holds_item(csr):
        at = bisect.bisect_left(offsets, csr["offset"])
        return at < len(offsets) and offsets[at] < csr["offset"] + csr["size"] * csr["entries"]
    return PUBLIC | {name for name, csr in csrs.items() if holds_item(csr)}


def registers_header(preamble, csrs, items):
    pool, rows = [], []
    known = {}
    public = public_registers(csrs, items)
    for name, csr in sorted(csrs.items(), key=lambda row: (row[1]["offset"], row[0])):
        words = tuple(words_of(name, csr))
        if words not in known:
            known[words] = len(pool)
            pool += words
        rows.append(f"    {{\"{name}\", {csr['offset']:#x}, {csr['size']}, {csr['entries']}, "
                    f"{generations(name)}, {'true' if name in public else 'false'}, "
                    f"{known[words]}}},")
    lines = preamble + [
        "#include <cstdint>",
        "#include <string_view>",
        "",
        "namespace cassini {",
        "",
        "/// What software does to 64 bits of a register: bits that keep what is written, bits that a",
        "/// written one clears, bits that start something and read as zero. All others ignore a write.",
        "struct RegisterWord {",
        "  std::uint64_t keep, clear, start, reset;",
        "};",
        "",
        "/// One register, or an array of equal ones. Several may lie at one offset, as views of the same",
        "/// words.",
        "struct Register {",
        "  std::string_view name;",
        "  std::uint32_t offset;",
        "  std::uint32_t size;  ///< bytes of one entry",
        "  std::uint32_t entries;",
        "  std::uint8_t generations;  ///< bit 0: Cassini 1 has it, bit 1: Cassini 2 has it",
        "  bool public_read;          ///< telemetry or identity: unprivileged programs may read it",
        "  std::uint16_t first_word;  ///< in register_words; size / 8 of them",
        "};",
        "",
        "inline constexpr RegisterWord register_words[] = {",
    ]
    lines += ["    {" + ", ".join(f"{bits:#x}" for bits in word) + "}," for word in pool]
    lines += ["};", "", "/// Every register, by offset.", "inline constexpr Register registers[] = {"]
    return "\n".join(lines + rows + ["};", "", "}  // namespace cassini", ""])


def places(csrs, generation):
    """Name of an item -> (offset, lsb, width) on that Cassini."""
    found = {}

    def add(name, place):
        if found.setdefault(name, place) != place:
            found[name] = None  # two meanings: nobody can be meant by it

    for name, csr in csrs.items():
        if not generations(name) & generation or csr["entries"] > MOST_NAMED_ENTRIES:
            continue
        block = re.sub(r"^c\d?_", "", name).removesuffix("_cntrs").upper()
        for entry in range(csr["entries"]):
            index = [str(entry)] if csr["entries"] > 1 else []
            start = csr["offset"] + entry * csr["size"]
            for field in csr["fields"]:
                elements = field[2] // 64 if field[2] > 64 else 1
                for element in range(elements):
                    tail = index + ([str(element)] if elements > 1 else [])
                    place = (start + field[1] // 64 * 8 + element * 8, field[1] % 64,
                             min(field[2], 64))
                    add("_".join([block, field[0].upper()] + tail), place)
                    if len(csr["fields"]) == 1:
                        add("_".join([block] + tail), place)
    return found


def resolve_items(items, csrs):
    """(name, id, place on Cassini 1 or None, place on Cassini 2 or None), by id."""
    by_generation = [places(csrs, 1), places(csrs, 2)]
    rows, expected = [], 0
    for item, number in items.items():
        if number != expected:
            raise ValueError(f"{item}: its number is {number}, not {expected}")
        expected += 1
        name = item.removeprefix("C_TELEM_")
        where = [table.get(name) for table in by_generation]
        if number != 0 and where == [None, None]:
            raise ValueError(f"{item}: no register has this name")
        rows.append((name.lower(), number, *where))
    return rows


def check_counters(groups, counters, csrs):
    """The number of a counter and the place that its name has on Cassini 1 must agree."""
    where = places(csrs, 1)
    bases = sorted((base, name) for name, base in groups.items())
    for counter, number in counters.items():
        below = [pair for pair in bases if pair[0] <= number]
        if not below:
            raise ValueError(f"{counter}: {number} is in no group")
        base, group = below[-1]
        block = csrs[f"c_{group.removeprefix('C_CNTR_TYPE_GROUP_OFFSET_').lower()}_sts_event_cnts"]
        place = where.get(re.sub(r"^C\d?_CNTR_", "", counter))
        offset = block["offset"] + 8 * (number - base)
        if place is None or place[0] != offset:
            raise ValueError(f"{counter}: number {number} is at {offset:#x}, "
                             f"its register {'nowhere' if place is None else hex(place[0])}")


def telemetry_header(preamble, rows):
    def place(where):
        return "{0xffffffff, 0, 0}" if where is None else f"{{{where[0]:#x}, {where[1]}, {where[2]}}}"
    lines = preamble + [
        "#include <cstdint>",
        "#include <string_view>",
        "",
        "namespace cassini {",
        "",
        "/// Bits of the 64-bit word at an offset of the CSR aperture.",
        "struct TelemetryPlace {",
        "  std::uint32_t offset;",
        "  std::uint8_t lsb, width;",
        "  constexpr bool exists() const { return width != 0; }",
        "};",
        "",
        "/// One item, named as in sysfs: lower case, without the prefix of its enumerator.",
        "struct TelemetryItem {",
        "  std::string_view name;",
        "  TelemetryPlace cassini1, cassini2;",
        "};",
        "",
        "/// Every item, by its number (enum c_telem_item); the first one stands for no item.",
        "inline constexpr TelemetryItem telemetry_items[] = {",
    ]
    lines += [f"    {{\"{name}\", {place(one)}, {place(two)}}}," for name, _, one, two in rows]
    return "\n".join(lines + ["};", "", "}  // namespace cassini", ""])


def counters_header(licence, items, counters):
    lines = [
        f"/* {licence} */",
        "/*",
        " * Telemetry items and event counters of the HPE Cassini NIC by number.",
        " * Generated by gen_cassini.py: change the tables, not this file.",
        " */",
        "#ifndef CASSINI_CNTR_DEFS_H",
        "#define CASSINI_CNTR_DEFS_H",
        "",
        "/* What a driver's telemetry calls items. */",
        "enum c_telem_item {",
    ]
    lines += [f"\t{name} = {number}," for name, number in items.items()]
    lines += ["};", "", "/* Event counters; those called C1_ exist on Cassini 1 only. */",
              "enum c_cntr_type {"]
    lines += [f"\t{name} = {number}," for name, number in counters.items()]
    return "\n".join(lines + ["};", "", "#endif /* CASSINI_CNTR_DEFS_H */", ""])
