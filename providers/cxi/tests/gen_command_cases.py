#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Write the golden vectors of the command emitters: one line for each field of each command.

Reads the tables alone: what an emitter stores is compared with what they say, bit by bit. A line is
GOLDEN(name, structure, assignments, call, units, bytes in hexadecimal); "ee" is memory left alone.
"""

import json
import pathlib
import random
import sys

SIZES = {32: 0, 64: 1, 128: 2, 256: 3}
FILL = 0xEE


class Tables:
    def __init__(self, folder):
        def read(name):
            table = json.loads((folder / name).read_text())
            del table["_about"]
            return table

        self.layouts = read("layouts.json")
        self.enums = {key: value for enum in read("enums.json").values() for key, value in enum.items()}

    def fields(self, structure, prefix="", base=0):
        """Scalar fields that the caller sets, as (C expression, first bit, width)."""
        for name, lsb, width, *kind in self.layouts[structure]["fields"]:
            if name == "command" or (name == "length" and width == 8) or kind == ["[0]"]:
                continue
            if kind and kind[0] != "c_fab_addr":
                yield from self.fields(kind[0], f"{prefix}{name}.", base + lsb)
            else:
                yield f"{prefix}{name}", base + lsb, width


def place(image, lsb, width, value):
    assert value >> width == 0
    number = int.from_bytes(image, "little") & ~(((1 << width) - 1) << lsb) | value << lsb
    image[:] = number.to_bytes(len(image), "little")


def assignment(field, value):
    if field.endswith("dfa"):
        return f"set_dfa(c.{field}, {value:#x}u)"
    return f"c.{field} = {value:#x}u" + ("ll" if value >> 32 else "")


def head(tables, cmd_type, size, opcode):
    image = bytearray(1)
    for name, lsb, width in (("cmd_type", *bits(tables, "cmd_type")),
                             ("cmd_size", *bits(tables, "cmd_size")),
                             ("opcode", *bits(tables, "opcode"))):
        value = {"cmd_type": tables.enums[cmd_type], "cmd_size": SIZES[size],
                 "opcode": tables.enums[opcode]}[name]
        place(image, lsb, width, value)
    return image[0]


def bits(tables, name):
    return next(row[1:3] for row in tables.layouts["c_cmd"]["fields"] if row[0] == name)


def values(tables, structure, chance, brief=False):
    """All zero, every field alone with all its bits, and everything at random; brief: the last."""
    fields = list(tables.fields(structure))
    if brief:
        yield "random", {field: chance.getrandbits(field[2]) for field in fields}
        return
    yield "zero", {}
    for field in fields:
        yield field[0], {field: (1 << field[2]) - 1}
    for turn in range(3):
        yield f"random {turn}", {field: chance.getrandbits(field[2]) for field in fields}


class Writer:
    def __init__(self, tables):
        self.tables = tables
        self.lines = []

    def case(self, name, structure, assigned, call, image, ring_bytes):
        image = bytes(image) + bytes([FILL]) * (ring_bytes - len(image))
        statements = "; ".join(assignment(field[0], value) for field, value in assigned.items())
        self.lines.append(f'GOLDEN("{name}", {structure}, {{ {statements}; }}, {call}, '
                          f'{ring_bytes // 32}, "{image.hex()}")')

    def plain(self, emitter, structure, cmd_type, size, opcode, force=None, chance=None):
        """A command that is its structure; force sets a field whatever the caller gave."""
        for name, assigned in values(self.tables, structure, chance):
            image = self.image(structure, assigned, cmd_type, size, opcode, force)
            self.case(f"{emitter}: {name}", structure, assigned, f"cxidv_emit_{emitter}(q, &c)",
                      image, size)

    def image(self, structure, assigned, cmd_type, size, opcode, force=None, length=None):
        image = bytearray(self.tables.layouts[structure]["bytes"])
        for (_, lsb, width), value in assigned.items():
            place(image, lsb, width, value)
        image[0] = head(self.tables, cmd_type, size, opcode)
        if length is not None:
            image[1] = length
        if force:
            lsb, width = next((f[1], f[2]) for f in self.tables.fields(structure) if f[0] == force)
            place(image, lsb, width, 1)
        return image


def immediate(writer, chance):
    tables = writer.tables
    for name, assigned in values(tables, "c_cstate_cmd", chance):
        image = writer.image("c_cstate_cmd", assigned, "C_CMD_TYPE_IDC", 32, "C_CMD_CSTATE", length=32)
        writer.case(f"cstate: {name}", "c_cstate_cmd", assigned, "cxidv_emit_cstate(q, &c)", image, 32)
    for emitter, structure, opcode, least, lengths in (
            ("idc_put", "c_idc_hdr", "C_CMD_PUT", 32, (0, 1, 16, 17, 48, 49, 112, 113, 192, 224)),
            ("idc_msg", "c_idc_msg_hdr", "C_CMD_SMALL_MESSAGE", 64, (0, 1, 8, 32, 33, 96, 97, 192))):
        header = tables.layouts[structure]["bytes"]
        for length in lengths:
            for name, assigned in values(tables, structure, chance, brief=length not in (0, lengths[-1])):
                size = next(s for s in SIZES if s >= max(least, header + length))
                image = writer.image(structure, assigned, "C_CMD_TYPE_IDC", size, opcode,
                                     length=header + length)
                payload = bytes((7 * i + 1) & 0xFF for i in range(length))
                writer.case(f"{emitter} {length}: {name}", structure, assigned,
                            f"cxidv_emit_{emitter}(q, &c, payload(), {length})", image + payload, size)


def immediate_amo(writer, chance):
    tables = writer.tables
    enums = tables.enums
    structure = "c_idc_amo_cmd"
    fields = {field[0]: field for field in tables.fields(structure)}
    ops = [name for name in enums if name.startswith("C_AMO_OP_") and "CSWAP_" not in name]
    types = [name for name in enums if name.startswith("C_AMO_TYPE_")]
    short = {name: (lsb, width) for name, lsb, width in tables.layouts["c_small_amo_payload"]["fields"]}
    for fetching in (False, True):
        for op in ops:
            for amo_type in types:
                assigned = {fields[name]: chance.getrandbits(fields[name][2]) for name in fields}
                assigned[fields["atomic_op"]] = enums[op]
                assigned[fields["atomic_type"]] = enums[amo_type]
                opcode = "C_CMD_FETCHING_ATOMIC" if fetching else "C_CMD_ATOMIC"
                if fetching or op in ("C_AMO_OP_CSWAP", "C_AMO_OP_AXOR") or \
                        amo_type in ("C_AMO_TYPE_DOUBLE_COMPLEX_T", "C_AMO_TYPE_UINT128_T"):
                    size = 64
                    image = writer.image(structure, assigned, "C_CMD_TYPE_IDC", 64, opcode, length=64)
                else:
                    size = 32
                    header = {field: value for field, value in assigned.items()
                              if field[0].startswith("idc_header.")}
                    image = writer.image(structure, header, "C_CMD_TYPE_IDC", 32, opcode, length=32)
                    tail = bytearray(16)
                    place(tail, *short["amo_op"], enums[op])
                    place(tail, *short["amo_type"], enums[amo_type])
                    place(tail, *short["op1_word1"], assigned[fields["op1_word1"]])
                    image = image[:16] + tail
                writer.case(f"idc_amo {'fetch ' if fetching else ''}{op} {amo_type}", structure, assigned,
                            f"cxidv_emit_idc_amo(q, &c, {str(fetching).lower()})", image, size)


def triggered(writer, emitter, structure, opcode, force, chance):
    tables = writer.tables
    alone = {32: 32, 64: 64, 96: 128}[tables.layouts[structure]["bytes"]]
    ct = {field[0]: field for field in tables.fields("c_ct_cmd")}
    for trig_ct, threshold in ((0, 0), (2047, 0), (0, (1 << 48) - 1), (1365, 0x123456789ABC)):
        header = writer.image("c_ct_cmd", {ct["trig_ct"]: trig_ct, ct["threshold"]: threshold},
                              "C_CMD_TYPE_CT", 128, "C_CMD_CT_TRIG_DMA")
        for name, assigned in values(tables, structure, chance, brief=trig_ct != 1365):
            inner = writer.image(structure, assigned, "C_CMD_TYPE_DMA", alone, opcode, force)
            writer.case(f"trig_{emitter} {trig_ct} {threshold}: {name}", structure, assigned,
                        f"cxidv_emit_trig_{emitter}(q, {trig_ct}, {threshold}ull, &c)",
                        header + inner, 128)


def counting(writer, chance):
    tables = writer.tables
    fields = {field[0]: field for field in tables.fields("c_ct_cmd")}
    for emitter, opcode in (("ct_set", "C_CMD_CT_SET"), ("ct_inc", "C_CMD_CT_INC"),
                            ("ct_trig_set", "C_CMD_CT_TRIG_SET"),
                            ("ct_trig_inc", "C_CMD_CT_TRIG_INC"),
                            ("ct_trig_event", "C_CMD_CT_TRIG_EVENT")):
        for name, assigned in values(tables, "c_ct_cmd", chance):
            image = writer.image("c_ct_cmd", assigned, "C_CMD_TYPE_CT", 64, opcode) + bytes(40)
            writer.case(f"{emitter}: {name}", "c_ct_cmd", assigned, f"cxidv_emit_{emitter}(q, &c)", image, 64)
    for ct in (0, 1, 1024, 2047):
        for emitter, opcode, more in (("ct_get", "C_CMD_CT_GET", ()), ("ct_cancel", "C_CMD_CT_CANCEL", ()),
                                      ("ct_reset", "C_CMD_CT_SET", ("set_ct_success", "set_ct_failure"))):
            assigned = {fields["ct"]: ct, **{fields[name]: 1 for name in more}}
            image = writer.image("c_ct_cmd", assigned, "C_CMD_TYPE_CT", 64, opcode) + bytes(40)
            writer.case(f"{emitter} {ct}", "c_ct_cmd", {}, f"cxidv_emit_{emitter}(q, {ct})", image, 64)


def control(writer):
    lcid = next(f for f in writer.tables.fields("c_cq_cmd") if f[0] == "lcid")
    noop = writer.image("c_cq_cmd", {}, "C_CMD_TYPE_CQ", 64, "C_CMD_CQ_NOOP")
    fence = writer.image("c_cq_cmd", {}, "C_CMD_TYPE_CQ", 64, "C_CMD_CQ_FENCE")
    writer.case("noop", "c_cq_cmd", {}, "cxidv_emit_noop(q)", noop, 64)
    writer.case("fence", "c_cq_cmd", {}, "cxidv_emit_fence(q)", fence, 64)
    for value in range(16):
        image = writer.image("c_cq_cmd", {lcid: value}, "C_CMD_TYPE_CQ", 64, "C_CMD_CQ_LCID")
        writer.case(f"lcid {value}", "c_cq_cmd", {}, f"cxidv_emit_lcid(q, {value})", image + noop, 128)


def main(tables_folder, out):
    tables = Tables(pathlib.Path(tables_folder))
    writer = Writer(tables)
    chance = random.Random(1)
    control(writer)
    immediate(writer, chance)
    immediate_amo(writer, chance)
    for emitter, structure, size, opcode, force in (
            ("put", "c_full_dma_cmd", 64, "C_CMD_PUT", None),
            ("get", "c_full_dma_cmd", 64, "C_CMD_GET", None),
            ("rendezvous_put", "c_full_dma_cmd", 64, "C_CMD_RENDEZVOUS_PUT", None),
            ("nomatch_put", "c_nomatch_dma_cmd", 32, "C_CMD_NOMATCH_PUT", "restricted"),
            ("nomatch_get", "c_nomatch_dma_cmd", 32, "C_CMD_NOMATCH_GET", "restricted"),
            ("amo", "c_dma_amo_cmd", 128, "C_CMD_ATOMIC", None),
            ("fetching_amo", "c_dma_amo_cmd", 128, "C_CMD_FETCHING_ATOMIC", None)):
        writer.plain(emitter, structure, "C_CMD_TYPE_DMA", size, opcode, force, chance)
        triggered(writer, emitter, structure, opcode, force, chance)
    counting(writer, chance)
    for emitter, structure, opcode in (("append", "c_target_cmd", "C_CMD_TGT_APPEND"),
                                       ("search", "c_target_cmd", "C_CMD_TGT_SEARCH"),
                                       ("search_and_delete", "c_target_cmd", "C_CMD_TGT_SEARCH_AND_DELETE"),
                                       ("unlink", "c_target_cmd", "C_CMD_TGT_UNLINK"),
                                       ("setstate", "c_set_state_cmd", "C_CMD_TGT_SETSTATE")):
        writer.plain(emitter, structure, "C_CMD_TYPE_CQ", 64, opcode, None, chance)
    pathlib.Path(out).write_text("\n".join(writer.lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
