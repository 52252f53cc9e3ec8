# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of gen_man_index: the index of a manual is complete, or it is not made."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import gen_man_index  # noqa: E402  (found through the line above)
from man_page import Page  # noqa: E402


class Index(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def page(self, file, subject, names, summary):
        aliases = "aliases:\n" + "".join(f"  - {name}\n" for name in names[1:]) if names[1:] else ""
        path = self.folder / file
        path.write_text(f"---\ntitle: T\nsection: 3\nsubject: {subject}\n{aliases}---\n\n"
                        f"# NAME\n\n{', '.join(names)} - {summary}\n\n# SYNOPSIS\n")
        return Page(path)

    def test_pages_stand_under_their_subject_with_all_their_names(self):
        pages = [self.page("make_b.3.md", "B", ["make_b", "free_b"], "make and free"),
                 self.page("use_a.3.md", "A", ["use_a"], "use - or not"),
                 self.page("read_b.3.md", "B", ["read_b"], "read")]
        text = gen_man_index.fill("first\n@INDEX B@\nthen\n@INDEX A@\nend\n", pages)
        self.assertEqual(text, "first\n**make_b**(3), **free_b**(3)\n: make and free\n\n"
                               "**read_b**(3)\n: read\n\nthen\n**use_a**(3)\n: use - or not\n\nend\n")

    def test_a_page_without_a_place_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "use_a.3.md: the index has no subject 'A'"):
            gen_man_index.fill("@INDEX B@\n", [self.page("use_a.3.md", "A", ["use_a"], "use")])

    def test_a_place_without_pages_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "no page has the subject 'B'"):
            gen_man_index.fill("@INDEX A@\n@INDEX B@\n", [self.page("use_a.3.md", "A", ["use_a"], "use")])


if __name__ == "__main__":
    unittest.main()
