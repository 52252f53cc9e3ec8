# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""doorbell_test.py HEADER COMPILER FLAGS...: a doorbell is one store, and a status word one load,
of 64 bits on the processor that the compiler makes code for.

Exits 77 (skipped) where the compiler does not make code for that processor."""

import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77

# Of the C library the header needs these alone; there may be none for another processor.
STRING_H = """
void *memcpy(void *, const void *, __SIZE_TYPE__);
void *memset(void *, int, __SIZE_TYPE__);
"""
PROGRAM = """
#include "{header}"
void ring(volatile void *where, uint64_t value);
void ring(volatile void *where, uint64_t value) {{ cxidv_store_doorbell(where, value); }}
uint64_t look(const volatile void *where);
uint64_t look(const volatile void *where) {{ return cxidv_load_acquire(where); }}
"""

# How x86 and Arm move 64 bits at once: integer, vector and x87 registers, pairs, exclusive pairs.
STORE = re.compile(r"\b(movq|movsd|movlps|fistpq|fistpll|str\s+x\d|stlr\s+x\d|strd|strexd)\b")
LOAD = re.compile(r"\b(movq|movsd|movlps|fildq|fildll|ldr\s+x\d|ldar\s+x\d|ldrd|ldrexd)\b")


def assembly(compiler, directory, header):
    program = directory / "program.c"
    program.write_text(PROGRAM.format(header=header))
    (directory / "string.h").write_text(STRING_H)
    command = [*compiler, "-std=gnu11", "-O2", "-ffreestanding", "-S", "-o", "-", "-isystem",
               str(directory), "-xc"]
    if subprocess.run([*command, "/dev/null"], capture_output=True, check=False).returncode != 0:
        print("skipped: the compiler does not take:", *compiler)
        sys.exit(SKIPPED)
    result = subprocess.run([*command, "-Wall", "-Wextra", "-Werror", str(program)],
                            capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(result.stderr)
    return result.stdout


def body(text, function):
    return re.search(rf"^{function}:(.*?)\.size\s+{function},", text, re.S | re.M).group(1)


def main():
    header, *compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        text = assembly(compiler, pathlib.Path(directory), header)
    failures = []
    for function, whole in (("ring", STORE), ("look", LOAD)):
        code = body(text, function)
        if not whole.search(code):
            failures.append(f"{function}() moves no 64 bits at once:{code}")
        if "__atomic" in code:
            failures.append(f"{function}() needs a library:{code}")
    sys.exit("\n".join(failures) or 0)


if __name__ == "__main__":
    main()
