# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The manual pages of direct verbs say what their headers say."""
import os
import pathlib
import re
import unittest

from man_tests import ROOT, Headers, Manual, pages_tests

CXI = ROOT / "providers" / "cxi"
INFINIBAND = CXI / "include" / "infiniband"
VERBS = ROOT / "libibverbs" / "include"
GENERATED = pathlib.Path(os.environ.get("MAN_PAGES_INCLUDE", ROOT / "build" / "include"))
# What is in the headers only because the other inline functions need it.
HELPER = "cxidv_priv_"


def public_headers():
    """Returns the headers of cxidv but the one for order between processor and NIC, all helpers."""
    return [path for path in sorted(INFINIBAND.glob("cxidv*.h")) if path.name != "cxidv_mmio.h"]


class CxidvHeaders(Headers):
    def __init__(self):
        super().__init__(public_headers())
        self.functions = {name for name in self.functions if not name.startswith(HELPER)}
        around = [*(GENERATED / "ethernet").glob("*.h"), *(VERBS / "infiniband").glob("*.h")]
        others = Headers([path for path in around if path.is_file()])
        self.names |= others.names
        self.others = others.functions
        self.structures = dict(re.findall(r"struct (cxidv_\w+) \{(.*?)^\}", self.code, re.S | re.M))
        self.constants = set(re.findall(r"^\t(CXIDV_\w+)", self.code, re.M))
        self.constants |= set(re.findall(r"^#define (CXIDV_\w+) ", self.text, re.M))


HEADERS = CxidvHeaders()
EXAMPLES = {path.stem for path in (CXI / "examples").glob("*.c")}
MANUAL = Manual(
    CXI / "man", HEADERS, "#include <infiniband/cxidv.h>", "cxidv_|CXIDV_|c_|C_|ibv_|IBV_",
    [CXI / "include", VERBS, ROOT / "kernel-headers", GENERATED],
    other_names={"ibv_ru", "ibv_wr_post", "cxidv_priv_", *EXAMPLES},
    other_functions=HEADERS.others,
    other_pages=[ROOT / "libibverbs" / "man"],
    cplusplus=True,
    sections=("NAME", "SYNOPSIS", "DESCRIPTION", "THREAD SAFETY", "RETURN VALUE", "ERRORS", "SEE ALSO"))

globals().update(pages_tests(MANUAL))


class Members(unittest.TestCase):
    def test_a_page_explains_every_member_of_each_structure(self):
        for name, body in HEADERS.structures.items():
            members = set(re.findall(r"(\w+)(?:\[\w+\])?;", body))
            left = [members - set(re.findall(r"\w+", page.prose())) for page in MANUAL.functions
                    if re.search(rf"\bstruct {name}\b", page.text)]
            with self.subTest(structure=name):
                self.assertEqual(min(left, key=len, default=members), set())

    def test_a_page_names_every_constant(self):
        words = {word for page in MANUAL.texts for word in re.findall(r"\bCXIDV_\w+", page.text)}
        documented = {name for name in HEADERS.constants if not name.startswith(HELPER.upper())}
        self.assertEqual(documented - words, set())

    def test_the_overview_has_every_function(self):
        if not MANUAL.built:
            self.skipTest("the pages were not built: there is no pandoc")
        overview = (MANUAL.built / "man7" / "cxidv.7").read_text().replace("\\f[B]", "").replace("\\f[R]", "")
        listed = set(re.findall(r"\b(cxidv_\w+)\(3\)", overview.replace("\\_", "_")))
        self.assertEqual(HEADERS.functions - listed, set())


if __name__ == "__main__":
    unittest.main()
