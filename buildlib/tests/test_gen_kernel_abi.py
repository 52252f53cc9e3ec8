# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of gen_kernel_abi: what becomes of the structures of a kernel header."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import gen_kernel_abi  # noqa: E402  (found through the line above)

HEADER = """
/* struct not_this {
 * };
 */
struct first {
	__u32 a; /* what a is */
	struct other b[2];

	union {
		__u32 c;
		__u32 d;
	};
	__u64 tail[];
};
struct second {
	__u32 e;
} __attribute__((packed));
"""


class KernelAbi(unittest.TestCase):
    def setUp(self):
        self.out = gen_kernel_abi.convert(HEADER, "rdma/some-abi.h")

    def test_each_structure_becomes_a_macro_and_comments_do_not(self):
        names = [line.split()[1] for line in self.out.splitlines() if "#define _STRUCT_" in line]
        self.assertEqual(names, ["_STRUCT_first", "_STRUCT_second"])

    def test_the_macro_is_an_unnamed_structure_of_the_same_members(self):
        macro = self.out.split("#define _STRUCT_first")[1].split("#define")[0]
        words = " ".join(macro.replace("\\\n", " ").split())
        self.assertEqual(words, "struct { __u32 a; struct other b[2]; union { __u32 c; __u32 d; }; "
                                "__u64 tail[0]; }")

    def test_attributes_stay_with_the_structure(self):
        macro = self.out.split("#define _STRUCT_second")[1]
        self.assertIn("} __attribute__((packed))", macro)

    def test_the_kernel_header_is_included(self):
        self.assertIn("#include <rdma/some-abi.h>", self.out)
        self.assertIn("#ifndef KERNEL_ABI_SOME_ABI_H", self.out)


if __name__ == "__main__":
    unittest.main()
