# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The manual pages say what the headers say, about all of it and nothing else: the tests of a Manual.

A test file makes a Manual and takes the test classes from pages_tests(manual).
"""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from man_page import Page

ROOT = pathlib.Path(__file__).resolve().parents[1]


def squeeze(text):
    """Returns a prototype with the white space that clang-format might change taken out."""
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"\s*([(),*])\s*", r"\1", text)


class Headers:
    """What public headers declare: functions with their prototypes, and every name there is."""

    def __init__(self, paths):
        self.text = "\n".join(path.read_text() for path in paths)
        self.code = re.sub(r"/\*.*?\*/", " ", self.text, flags=re.S)
        flat = re.sub(r"^[ \t]*#(.*\\\n)*.*$", "", self.code, flags=re.M)
        flat = flat.replace('extern "C" {', "")
        self.prototypes = dict(self._functions(self._outside_braces(flat)))
        # Names with an underscore in front are plumbing.
        self.functions = {name for name in self.prototypes if not name.startswith("_")}
        self.names = set(re.findall(r"\w+", self.code))

    @staticmethod
    def _outside_braces(text):
        """Returns the text with each {...} replaced by a semicolon."""
        out, depth = [], 0
        for part in re.split(r"([{}])", text):
            if part == "{":
                depth += 1
            elif part == "}":
                depth = max(depth - 1, 0)  # extern "C" has been cut off in front only
                if depth == 0:
                    out.append(";")
            elif depth == 0:
                out.append(part)
        return "".join(out)

    @staticmethod
    def _functions(text):
        for statement in text.split(";"):
            match = re.fullmatch(r"\s*(?:static inline )?((?:(?:const|volatile) )*(?:struct |enum |union )?\w+"
                                 r"(?: \w+)?[ *]+)(\w+)\((.*)\)\s*", statement, re.S)
            if match and "typedef" not in match[1]:
                result, name, arguments = match.groups()
                yield name, re.sub(r"\s+", " ", f"{result}{name}({arguments})").strip() + ";"


class Manual:
    """A folder of pages, and what they are compared with."""

    def __init__(self, folder, headers, include, prefix, includes, **more):
        self.pages = [Page(path) for path in sorted([*folder.glob("*.md"), *folder.glob("*.md.in")])]
        self.functions = [page for page in self.pages if page.section == "3"]
        self.texts = [page for page in self.pages if page.section in "37"]
        self.headers = headers
        self.include = include  # the line that a synopsis starts with
        self.prefix = prefix  # of what these pages may name only if it exists: a regular expression
        self.includes = includes  # folders that examples are compiled with
        self.texts_of_functions = more.get("texts_of_functions", set())  # section 3, but no function
        self.other_names = more.get("other_names", set())  # known, but in no header
        self.other_functions = more.get("other_functions", set())  # of other headers
        self.other_pages = more.get("other_pages", ())  # folders that references may lead to as well
        self.sections = more.get("sections", ("NAME", "SYNOPSIS", "DESCRIPTION", "RETURN VALUE", "ERRORS",
                                              "SEE ALSO"))
        self.min_examples = more.get("min_examples", 10)
        self.cplusplus = more.get("cplusplus", False)  # examples are C++20, too
        built = os.environ.get("MAN_PAGES_BUILT")
        self.built = pathlib.Path(built) if built else None

    def made(self, page, name=None):
        return self.built / f"man{page.section}" / f"{name or page.name}.{page.section}"


class Coverage:
    def test_every_public_function_has_one_page(self):
        named = [name for page in self.manual.functions for name in page.names]
        wanted = self.manual.headers.functions | self.manual.texts_of_functions
        self.assertEqual(sorted(set(named)), sorted(wanted))
        self.assertEqual(len(named), len(set(named)), "a function is on two pages")


class Form:
    def test_the_name_section_lists_the_aliases(self):
        for page in self.manual.functions:
            with self.subTest(page=page.path.name):
                names = re.split(r"\s-\s", page.sections["NAME"])[0]
                self.assertEqual([name.strip() for name in names.split(",")], page.names)

    def test_every_function_page_has_the_sections_of_one(self):
        for page in self.manual.functions:
            with self.subTest(page=page.path.name):
                self.assertEqual([name for name in page.sections if name in self.manual.sections],
                                 list(self.manual.sections))

    def test_every_page_names_its_licence(self):
        for page in self.manual.pages:
            self.assertIn("SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB", page.text, page.path.name)


class Contents:
    def test_the_synopsis_is_the_prototype(self):
        for page in self.manual.functions:
            functions = [name for name in page.names if name not in self.manual.texts_of_functions]
            with self.subTest(page=page.path.name):
                code = "".join(page.code("SYNOPSIS")).replace(self.manual.include, "")
                shown = [squeeze(statement) for statement in code.split(";") if statement.strip()]
                declared = [squeeze(self.manual.headers.prototypes[name].rstrip(";")) for name in functions]
                self.assertEqual(shown, declared)

    def test_no_page_names_what_does_not_exist(self):
        known = (self.manual.headers.names | self.manual.texts_of_functions | self.manual.other_names
                 | {page.name for page in self.manual.pages})
        for page in self.manual.texts:
            words = set(re.findall(rf"\b(?:{self.manual.prefix})\w+", page.prose()))
            with self.subTest(page=page.path.name):
                self.assertEqual(words - known, set())

    def test_what_is_called_is_a_function(self):
        for page in self.manual.texts:
            called = set(re.findall(rf"\b((?:{self.manual.prefix})\w+)\**\(\)", page.prose()))
            with self.subTest(page=page.path.name):
                self.assertEqual(called - self.manual.headers.functions - self.manual.other_functions, set())

    def test_references_lead_somewhere(self):
        there = [*self.manual.pages,
                 *(Page(path) for folder in self.manual.other_pages for path in folder.glob("*.md"))]
        pages = {(name, page.section) for page in there for name in page.names}
        for page in self.manual.texts:
            seen = set(re.findall(r"\b(\w+)\*\*\(([137])\)", page.prose()))  # 2 is the system's
            with self.subTest(page=page.path.name):
                self.assertEqual(seen - pages, set())
                self.assertNotIn((page.name, page.section), set(
                    re.findall(r"\b(\w+)\*\*\((\d)\)", page.sections["SEE ALSO"])))

    def test_the_examples_compile(self):
        self.compile_examples(os.environ.get("MAN_PAGES_CC") or shutil.which("cc"), "gnu11", "c", "-Wextra")

    def test_the_examples_compile_as_cplusplus(self):
        if not self.manual.cplusplus:
            self.skipTest("these examples are C")
        # -Wextra wants every member named.
        self.compile_examples(os.environ.get("MAN_PAGES_CXX") or shutil.which("c++"), "c++20", "c++")

    def compile_examples(self, compiler, standard, language, *more):
        command = [compiler, f"-std={standard}", "-fsyntax-only", "-Wall", *more, "-Wshadow", "-Werror",
                   *(f"-I{folder}" for folder in self.manual.includes), f"-x{language}", "-"]
        examples = [(page, code) for page in self.manual.texts for code in page.code("EXAMPLES")]
        self.assertGreaterEqual(len(examples), self.manual.min_examples)
        for page, code in examples:
            with self.subTest(page=page.path.name):
                result = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
                self.assertEqual((result.returncode, result.stderr), (0, ""))


class Built:
    def setUp(self):
        if not self.manual.built:
            self.skipTest("the pages were not built: there is no pandoc")

    def test_every_page_was_built(self):
        for page in self.manual.pages:
            source = self.manual.made(page)
            self.assertTrue(source.is_file(), source)
            self.assertGreaterEqual(source.stat().st_mtime, page.path.stat().st_mtime,
                                    f"{source} is older than its source")

    def test_every_alias_opens_where_it_was_built(self):
        for page in self.manual.pages:
            for alias in page.aliases:
                self.assertEqual(self.manual.made(page, alias).read_text(), self.manual.made(page).read_text())

    @unittest.skipUnless(shutil.which("groff"), "there is no groff")
    def test_groff_has_no_warnings(self):
        for page in self.manual.pages:
            result = subprocess.run(["groff", "-t", "-man", "-Tutf8", "-ww", "-z", "-rLL=78n",
                                     str(self.manual.made(page))],
                                    capture_output=True, text=True, check=False)
            with self.subTest(page=page.path.name):
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("mandoc"), "there is no mandoc")
    def test_mandoc_has_no_warnings(self):
        for page in self.manual.pages:
            result = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", str(self.manual.made(page))],
                                    capture_output=True, text=True, check=False)
            # Pages carry no date, so that the same source makes the same page.
            found = [line for line in result.stdout.splitlines() if "missing date" not in line]
            with self.subTest(page=page.path.name):
                self.assertEqual(found, [])

    @unittest.skipUnless(shutil.which("man"), "there is no man")
    def test_man_finds_a_page_by_its_alias_in_the_build_folder(self):
        page = next(page for page in self.manual.pages if page.aliases)
        result = subprocess.run(["man", "-M", self.manual.built, page.section, page.aliases[-1]],
                                capture_output=True, text=True, check=False,
                                env={**os.environ, "MANPAGER": "cat"})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(page.aliases[-1], result.stdout)


def pages_tests(manual):
    """Returns the test classes of a manual, for the names of a test module."""
    return {base.__name__: type(base.__name__, (base, unittest.TestCase), {"manual": manual})
            for base in (Coverage, Form, Contents, Built)}
