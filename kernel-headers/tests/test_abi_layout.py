# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of abi_layout: headers that it must refuse, and one that it must not."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import abi_layout  # noqa: E402  (found through the line above)

HEADER = """\
#include <linux/types.h>
#ifdef __cplusplus
#define CXI_ABI_ASSERT_SIZE(type, bytes) static_assert(sizeof(struct type) == (bytes), #type)
#else
#define CXI_ABI_ASSERT_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
#endif
struct sample {
%s
};
%s
"""
ASSERTED = "CXI_ABI_ASSERT_SIZE(sample, 16);"


class Layout(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.include = pathlib.Path(folder.name)
        (self.include / "rdma").mkdir()

    def check(self, members, *compiler, asserts=ASSERTED):
        return self.check_header(HEADER % (members, asserts), *compiler)

    def check_header(self, text, *compiler):
        header = self.include / "rdma" / "cxiverbs-abi.h"
        header.write_text(text)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = abi_layout.main(str(header), str(self.include), "cc", "--",
                                     *(compiler or ("cc", "-xc")))
        return status, said.getvalue()

    def test_a_header_by_the_rules_passes(self):
        status, said = self.check("\t__u32 a; /* one; two */\n\t__u16 b[2];\n\t__aligned_u64 c;")
        self.assertEqual((status, said), (0, "1 structures, 3 members, as c\n"))

    def test_padding_without_a_name_is_refused(self):
        status, said = self.check("\t__u32 a;\n\t__aligned_u64 b;")
        self.assertEqual(status, 1)
        self.assertIn("sample.b: 4 bytes without a name before it", said)

    def test_an_end_that_is_no_multiple_of_eight_is_refused(self):
        status, said = self.check("\t__u32 a[3];", asserts="CXI_ABI_ASSERT_SIZE(sample, 12);")
        self.assertEqual(status, 1)
        self.assertIn("sample: 12 bytes of members in 12", said)

    def test_a_structure_without_an_assertion_is_refused(self):
        status, said = self.check("\t__u32 a[4];", asserts="")
        self.assertEqual(status, 1)
        self.assertIn("sample: no CXI_ABI_ASSERT_SIZE", said)

    def test_pointers_and_types_of_the_compiler_are_refused(self):
        for member in ("__u32 *a;", "unsigned long a;", "size_t a;"):
            with self.subTest(member), self.assertRaises(SystemExit):
                self.check("\t" + member)

    def test_a_compiler_that_sees_another_layout_is_noticed(self):
        # The header's own assertion is hidden: nobody else can notice.
        header = "#include <linux/types.h>\n#ifndef FIRST\n#define FIRST __u32\n#endif\n" \
                 "struct sample {\n\tFIRST a;\n\t__u32 b;\n};\n#if 0\n" + ASSERTED + "\n#endif\n"
        self.assertEqual(self.check_header(header, "cc", "-xc")[0], 0)
        status, said = self.check_header(header, "cc", "-xc", "-DFIRST=__u64")
        self.assertEqual(status, 1)
        self.assertIn("sizeof(((struct sample *)0)->a) == 4", said)

    def test_a_compiler_that_is_not_there_is_a_skip(self):
        self.assertEqual(self.check("\t__u32 a[4];", "no-such-compiler")[0], 77)


if __name__ == "__main__":
    unittest.main()
