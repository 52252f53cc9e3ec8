# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Complete programs that the manual prints are built as it says, and run."""

import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, succeeded

SOURCE = pathlib.Path(__file__).resolve().parent.parent
MANUALS = SOURCE / "libibverbs" / "man"


def programs(page):
    blocks = re.findall(r"^```c\n(.*?)^```$", (MANUALS / page).read_text(), re.DOTALL | re.MULTILINE)
    return [block for block in blocks if re.search(r"^int main\(", block, re.MULTILINE)]


def build(source, folder):
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("there is no C compiler")
    (folder / "program.c").write_text(source)
    program = folder / "program"
    command = [compiler, "-Wall", "-Wextra", "-Werror", "-o", program, folder / "program.c"]
    headers = [f"-I{SOURCE}/libibverbs/include"]
    library = [f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib", "-libverbs"]
    subprocess.run(command + headers + library, check=True)
    return program


@pytest.fixture
def hello(tmp_path):
    (source,) = programs("ibv_ru.7.md")
    return build(source, tmp_path)


@pytest.mark.parametrize("job", [[], ["10"]], ids=["default-job", "granted-job"])
def test_the_program_of_ibv_ru_sends_itself_a_message(cassini, hello, job):
    assert succeeded(cassini.run(hello, *job)).stdout == "hello\n"


def test_the_program_of_ibv_ru_names_the_refusal_of_a_job(cassini, hello):
    result = cassini.run(hello, "77")
    assert result.returncode == 1
    assert result.stderr.startswith("job: ")
