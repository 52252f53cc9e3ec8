# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The manual pages say what the header says, about all of it and nothing else."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from verbs_header import VerbsHeader, squeeze

PAGES = pathlib.Path(__file__).resolve().parents[1]
ROOT = PAGES.parents[1]
HEADER = VerbsHeader(PAGES.parent / "include")

# What code may call that is no page of ours: the text of a page that is no function.
NOT_FUNCTIONS = {"ibv_wr_post", "ibv_ru"}


class Page:
    def __init__(self, path):
        self.path = path
        self.name, self.section = path.name.split(".")[:2]
        self.text = path.read_text()
        front, self.body = re.fullmatch(r"---\n(.*?)\n---\n(.*)", self.text, re.S).groups()
        self.aliases = re.findall(r"^  - (\w+)$", front, re.M)
        self.sections = dict(re.findall(r"^# (.+)\n((?:(?!# ).*\n?)*)", self._without_code(), re.M))

    @property
    def names(self):
        return [self.name, *self.aliases]

    def code(self, section):
        """Returns the C blocks of a section."""
        body = re.search(rf"^# {section}\n(.*?)(?=^# [A-Z]|\Z)", self.body, re.S | re.M)
        return re.findall(r"^```c\n(.*?)^```$", body[1], re.S | re.M) if body else []

    def prose(self):
        return re.sub(r"`[^`]*`", lambda code: " " + code[0].strip("`") + " ", self._without_code())

    def _without_code(self):
        return re.sub(r"^```c\n.*?^```$", "", self.body, flags=re.S | re.M)


ALL = [Page(path) for path in sorted(PAGES.glob("*.md"))]
FUNCTION_PAGES = [page for page in ALL if page.section == "3"]
TEXT_PAGES = [page for page in ALL if page.section in "37"]


class Coverage(unittest.TestCase):
    def test_every_public_function_has_one_page(self):
        named = [name for page in FUNCTION_PAGES for name in page.names]
        self.assertEqual(sorted(set(named)), sorted(HEADER.functions | (NOT_FUNCTIONS - {"ibv_ru"})))
        self.assertEqual(len(named), len(set(named)), "a function is on two pages")

    def test_the_header_has_the_functions_that_the_library_exports(self):
        """So that a declaration the parser of this test cannot read is noticed."""
        exported = re.findall(r"^\s+(ibv_\w+|mbps_to_ibv_rate|mult_to_ibv_rate);",
                              re.split(r"IBVERBS_PRIVATE", (PAGES.parent / "libibverbs.map").read_text())[0],
                              re.M)
        self.assertGreater(len(exported), 50)
        other_headers = {name for name in exported if name.endswith(("_from_kern", "_to_kern"))}
        plumbing = {"ibv_register_driver", "ibv_get_sysfs_path", "ibv_read_sysfs_file",
                    "ibv_dontfork_range", "ibv_dofork_range"}
        self.assertEqual(set(exported) - other_headers - plumbing - HEADER.functions, set())


class Form(unittest.TestCase):
    def test_the_name_section_lists_the_aliases(self):
        for page in FUNCTION_PAGES:
            with self.subTest(page=page.path.name):
                names = re.split(r"\s-\s", page.sections["NAME"])[0]
                self.assertEqual([name.strip() for name in names.split(",")], page.names)

    def test_every_function_page_has_the_sections_of_one(self):
        wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", "RETURN VALUE", "ERRORS", "SEE ALSO"]
        for page in FUNCTION_PAGES:
            with self.subTest(page=page.path.name):
                self.assertEqual([name for name in page.sections if name in wanted], wanted)

    def test_every_page_names_its_licence(self):
        for page in ALL:
            self.assertIn("SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB", page.text, page.path.name)


class Contents(unittest.TestCase):
    def test_the_synopsis_is_the_prototype(self):
        for page in FUNCTION_PAGES:
            functions = [name for name in page.names if name not in NOT_FUNCTIONS]
            with self.subTest(page=page.path.name):
                code = "".join(page.code("SYNOPSIS")).replace("#include <infiniband/verbs.h>", "")
                shown = [squeeze(statement) for statement in code.split(";") if statement.strip()]
                declared = [squeeze(HEADER.prototypes[name].rstrip(";")) for name in functions]
                self.assertEqual(shown, declared)

    def test_no_page_names_what_does_not_exist(self):
        tools = {path.name.split(".")[0] for path in PAGES.glob("*.1.md")}
        known = HEADER.names | NOT_FUNCTIONS | tools
        not_the_header = {"IBV_SHOW_WARNINGS", "IBV_DRIVERS", "IBV_FORK_SAFE"}  # environment
        for page in TEXT_PAGES:
            words = set(re.findall(r"\b(?:ibv|IBV|verbs)_\w+", page.prose()))
            with self.subTest(page=page.path.name):
                self.assertEqual(words - known - not_the_header, set())

    def test_what_is_called_is_a_function(self):
        for page in TEXT_PAGES:
            called = set(re.findall(r"\b(ibv_\w+)\**\(\)", page.prose()))
            with self.subTest(page=page.path.name):
                self.assertEqual(called - HEADER.functions, set())

    def test_references_lead_somewhere(self):
        pages = {(name, page.section) for page in ALL for name in page.names}
        for page in TEXT_PAGES:
            seen = set(re.findall(r"\b(ibv_\w+)\*\*\((\d)\)", page.prose()))
            with self.subTest(page=page.path.name):
                self.assertEqual(seen - pages, set())
                self.assertNotIn((page.name, page.section), set(
                    re.findall(r"\b(ibv_\w+)\*\*\((\d)\)", page.sections["SEE ALSO"])))

    def test_the_examples_compile(self):
        compiler = os.environ.get("MAN_PAGES_CC") or shutil.which("cc")
        command = [compiler, "-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Wshadow", "-Werror",
                   f"-I{PAGES.parent / 'include'}", f"-I{ROOT / 'kernel-headers'}", "-xc", "-"]
        examples = [(page, code) for page in TEXT_PAGES for code in page.code("EXAMPLES")]
        self.assertGreater(len(examples), 10)
        for page, code in examples:
            with self.subTest(page=page.path.name):
                result = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
                self.assertEqual((result.returncode, result.stderr), (0, ""))


BUILT = os.environ.get("MAN_PAGES_BUILT")


@unittest.skipUnless(BUILT, "the pages were not built: there is no pandoc")
class Built(unittest.TestCase):
    def test_every_page_and_alias_was_built(self):
        for page in ALL:
            source = pathlib.Path(BUILT) / f"{page.name}.{page.section}"
            self.assertTrue(source.is_file(), source)
            self.assertGreaterEqual(source.stat().st_mtime, page.path.stat().st_mtime,
                                    f"{source} is older than its source")
            for alias in page.aliases:
                link = pathlib.Path(BUILT) / f"{alias}.{page.section}"
                self.assertEqual(link.read_text(), f".so man{page.section}/{source.name}\n")

    @unittest.skipUnless(shutil.which("groff"), "there is no groff")
    def test_groff_has_no_warnings(self):
        for page in ALL:
            source = pathlib.Path(BUILT) / f"{page.name}.{page.section}"
            result = subprocess.run(["groff", "-t", "-man", "-Tutf8", "-ww", "-z", "-rLL=80n", str(source)],
                                    capture_output=True, text=True, check=False)
            with self.subTest(page=page.path.name):
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("mandoc"), "there is no mandoc")
    def test_mandoc_finds_no_errors(self):
        for page in ALL:
            source = pathlib.Path(BUILT) / f"{page.name}.{page.section}"
            result = subprocess.run(["mandoc", "-T", "lint", "-W", "error", str(source)],
                                    capture_output=True, text=True, check=False)
            with self.subTest(page=page.path.name):
                self.assertEqual((result.returncode, result.stdout), (0, ""))

    @unittest.skipUnless(shutil.which("man"), "there is no man")
    def test_man_finds_a_page_by_its_alias(self):
        with tempfile.TemporaryDirectory() as folder:
            section = pathlib.Path(folder) / "man3"
            section.mkdir()
            for name in ("ibv_alloc_pd.3", "ibv_dealloc_pd.3"):
                shutil.copy(pathlib.Path(BUILT) / name, section)
            result = subprocess.run(["man", "-M", folder, "3", "ibv_dealloc_pd"], capture_output=True,
                                    text=True, check=False, env={**os.environ, "MANPAGER": "cat"})
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("ibv_alloc_pd", result.stdout)


if __name__ == "__main__":
    unittest.main()
