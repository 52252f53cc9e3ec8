# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Makes a manual page of Markdown with pandoc, in the plain macros that every reader of pages knows.

pandoc asks for fonts that only groff has, and for paragraphs where headings begin one anyway.
"""
import argparse
import pathlib
import re
import subprocess
import sys

PANDOC = ["--standalone", "--fail-if-warnings", "--tab-stop", "8", "--from", "markdown-smart", "--to", "man"]


def plain(page):
    """Returns a page of pandoc without what other readers than groff warn of."""
    page = re.sub(r'^\.\\" Define V font.*?^\.\\}\n\.el.*?^\.\\}\n', "", page, flags=re.S | re.M)
    page = re.sub(r"^(\.S[HS] .*\n)\.PP\n", r"\1", page, flags=re.M)
    page = re.sub(r"^\.nf\n\\f\[C\]\n(.*?)\n\\f\[R\]\n\.fi$", r".nf\n\1\n.fi", page, flags=re.S | re.M)
    return re.sub(r"\\f\[V[BI]*\]", r"\\f[B]", page)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pandoc")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    made = subprocess.run([arguments.pandoc, *PANDOC, arguments.source], stdout=subprocess.PIPE, check=False)
    if made.returncode:
        sys.exit(made.returncode)
    arguments.output.write_text(plain(made.stdout.decode()))


if __name__ == "__main__":
    main()
