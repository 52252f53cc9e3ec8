# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of gen_cassini: a small table against kept headers, and tables that must be refused."""

import contextlib
import io
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import gen_cassini  # noqa: E402  (found through the line above)

TABLES = HERE / "gen_cassini"


class Generator(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tables = pathlib.Path(folder.name) / "tables"
        self.out = pathlib.Path(folder.name) / "out"
        self.tables.mkdir()
        for table in TABLES.glob("*.json"):
            shutil.copy(table, self.tables)

    def run_main(self):
        """The exit status and what went to standard error."""
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            status = gen_cassini.main(["--tables", str(self.tables), "--out", str(self.out)])
        return status, errors.getvalue()

    def change(self, table, name, entry):
        path = self.tables / f"{table}.json"
        content = json.loads(path.read_text())
        content[name] = entry
        path.write_text(json.dumps(content))

    def refused(self, text):
        status, errors = self.run_main()
        self.assertEqual(status, 1)
        self.assertEqual(errors, f"gen_cassini: {text}\n")
        self.assertFalse(self.out.exists(), "nothing is written from a bad table")

    def struct(self, size, *fields, kind="struct"):
        self.change("layouts", "c_bad", {"kind": kind, "bytes": size, "fields": fields})

    def test_small_tables_give_the_kept_headers(self):
        self.assertEqual(self.run_main(), (0, ""))
        for kept in sorted(TABLES.glob("expected/*")):
            with self.subTest(kept.name):
                self.assertEqual((self.out / kept.name).read_text(), kept.read_text())
        self.assertEqual(len(list(TABLES.glob("expected/*"))), len(list(self.out.iterdir())))

    def test_overlapping_fields_are_refused(self):
        self.struct(4, ["a", 0, 9], ["b", 8, 4])
        self.refused("c_bad.b: overlaps a (bit 8 < 9)")

    def test_overlap_is_seen_whatever_the_order_of_the_table(self):
        self.struct(4, ["b", 8, 4], ["a", 0, 9])
        self.refused("c_bad.b: overlaps a (bit 8 < 9)")

    def test_overlap_is_what_unions_are_for(self):
        self.struct(4, ["a", 0, 9], ["b", 8, 4], kind="union")
        self.assertEqual(self.run_main(), (0, ""))

    def test_a_field_behind_the_end_is_refused(self):
        self.struct(4, ["a", 30, 3])
        self.refused("c_bad.a: ends at bit 33, the structure at bit 32")

    def test_a_field_wider_than_a_word_is_refused(self):
        self.struct(16, ["a", 0, 65])
        self.refused("c_bad.a: a field of 65 bits must be 1 to 64 bits wide")

    def test_an_inner_structure_of_another_size_is_refused(self):
        self.struct(4, ["a", 0, 16, "c_low"])
        self.refused("c_bad.a: 16 bits at 0 do not hold a c_low")

    def test_an_unknown_type_is_refused(self):
        self.struct(4, ["a", 0, 16, "c_nowhere"])
        self.refused("c_bad.a: type c_nowhere is not defined before its use")

    def test_an_open_array_before_the_end_is_refused(self):
        self.struct(4, ["a", 0, 8, "[0]"])
        self.refused("c_bad.a: an array without length must be the end")

    def test_array_elements_of_odd_width_are_refused(self):
        self.struct(4, ["a", 0, 12, "[2]"])
        self.refused("c_bad.a: array elements must be whole, aligned bytes")

    def test_a_field_name_used_twice_is_refused(self):
        self.struct(4, ["a", 0, 8], ["a", 8, 8])
        self.refused("c_bad.a: the name is used twice")

    def test_an_enumerator_used_twice_is_refused(self):
        self.change("enums", "c_other", {"C_OP_PUT": 1})
        self.refused("c_other.C_OP_PUT: already in c_op")

    def test_a_constant_named_like_an_enumerator_is_refused(self):
        self.change("constants", "C_OP_PUT", 1)
        self.refused("C_OP_PUT: a constant and an enumerator have this name")

    def test_a_register_field_behind_the_end_is_refused(self):
        self.change("csrs", "c_bad", {"offset": 0, "size": 8, "entries": 1,
                                      "fields": [["a", 60, 5]]})
        self.refused("c_bad.a: ends at bit 65, the register at bit 64")

    def register(self, size, *fields, offset=0, entries=1):
        self.change("csrs", "c_bad", {"offset": offset, "size": size, "entries": entries,
                                      "fields": fields})

    def test_an_unknown_access_is_refused(self):
        self.register(8, ["a", 0, 5, "SXX HRO", 0])
        self.refused("c_bad.a: access 'SXX HRO' is not known")

    def test_a_reset_value_wider_than_its_field_is_refused(self):
        self.register(8, ["a", 0, 2, "SRW HRO", 4])
        self.refused("c_bad.a: reset value 4 has more than 2 bits")

    def test_a_register_that_is_no_whole_word_is_refused(self):
        self.register(4, ["a", 0, 2, "SRW HRO", 0])
        self.refused("c_bad: not made of whole, aligned words of 64 bits")

    def test_a_telemetry_item_without_a_place_is_refused(self):
        self.change("telemetry_items", "C_TELEM_A_FOUR_4", 4)
        self.refused("C_TELEM_A_FOUR_4: no register has this name")

    def test_a_telemetry_item_that_could_be_two_registers_is_refused(self):
        self.register(8, ["load_1", 0, 1, "SRO HWO", 0])
        self.change("csrs", "c_bad_load", {"offset": 8, "size": 8, "entries": 2,
                                           "fields": [["cnt", 0, 1, "SRO HWO", 0]]})
        self.change("telemetry_items", "C_TELEM_BAD_LOAD_1", 4)
        self.refused("C_TELEM_BAD_LOAD_1: no register has this name")

    def test_a_gap_in_the_telemetry_numbers_is_refused(self):
        self.change("telemetry_items", "C_TELEM_A_ONE", 5)
        self.refused("C_TELEM_A_ONE: its number is 5, not 4")

    def test_a_counter_number_that_is_not_at_its_register_is_refused(self):
        self.change("event_counters", "counters", {"C_CNTR_A_ONE": 9})
        self.refused("C_CNTR_A_ONE: number 9 is at 0x10008, its register 0x10000")

    def test_a_counter_below_every_group_is_refused(self):
        self.change("event_counters", "counters", {"C_CNTR_A_ONE": 7})
        self.refused("C_CNTR_A_ONE: 7 is in no group")

    def test_an_unknown_register_for_programs_is_refused(self):
        self.change("user_csrs", "c_nowhere", "layout")
        self.refused("c_nowhere: no such register")

    def test_a_missing_table_is_refused(self):
        (self.tables / "enums.json").unlink()
        status, errors = self.run_main()
        self.assertEqual(status, 1)
        self.assertIn("enums.json", errors)
        self.assertEqual(errors.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
