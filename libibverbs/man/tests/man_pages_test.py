# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The manual pages of verbs say what the public headers say."""
import re
import unittest

from man_tests import ROOT, Headers, Manual, pages_tests

LIBRARY = ROOT / "libibverbs"
INFINIBAND = LIBRARY / "include" / "infiniband"


class VerbsHeaders(Headers):
    # The macro of this name calls an inline function; the exported one is for old programs.
    PUBLIC_FORM = {"___ibv_query_port": "ibv_query_port"}

    def __init__(self):
        super().__init__([INFINIBAND / name for name in ("verbs.h", "verbs_types.h", "verbs_api.h")])
        for inline, public in self.PUBLIC_FORM.items():
            self.prototypes[public] = self.prototypes.pop(inline).replace(inline, public)
            self.functions.add(public)
        self.functions = {name for name in self.functions if not name.startswith("verbs_")}


MANUAL = Manual(
    LIBRARY / "man", VerbsHeaders(), "#include <infiniband/verbs.h>", "ibv_|IBV_|verbs_",
    [LIBRARY / "include", ROOT / "kernel-headers"],
    texts_of_functions={"ibv_wr_post"},
    other_names={"IBV_SHOW_WARNINGS", "IBV_DRIVERS", "IBV_FORK_SAFE"},  # environment
    min_examples=11)

globals().update(pages_tests(MANUAL))


class Library(unittest.TestCase):
    def test_the_header_has_the_functions_that_the_library_exports(self):
        """So that a declaration the parser of this test cannot read is noticed."""
        exported = re.findall(r"^\s+(ibv_\w+|mbps_to_ibv_rate|mult_to_ibv_rate);",
                              re.split(r"IBVERBS_PRIVATE", (LIBRARY / "libibverbs.map").read_text())[0],
                              re.M)
        self.assertGreater(len(exported), 50)
        other_headers = {name for name in exported if name.endswith(("_from_kern", "_to_kern"))}
        plumbing = {"ibv_register_driver", "ibv_get_sysfs_path", "ibv_read_sysfs_file",
                    "ibv_dontfork_range", "ibv_dofork_range"}
        self.assertEqual(set(exported) - other_headers - plumbing - MANUAL.headers.functions, set())


if __name__ == "__main__":
    unittest.main()
