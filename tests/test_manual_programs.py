# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Complete programs that the manual prints are built as it says, and run."""

import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, succeeded

SOURCE = pathlib.Path(__file__).resolve().parent.parent


def programs(page):
    blocks = re.findall(r"^```c\n(.*?)^```$", (SOURCE / page).read_text(), re.DOTALL | re.MULTILINE)
    return [block for block in blocks if re.search(r"^int main\(", block, re.MULTILINE)]


def build(source, folder, *libraries):
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("there is no C compiler")
    (folder / "program.c").write_text(source)
    program = folder / "program"
    command = [compiler, "-Wall", "-Wextra", "-Werror", "-o", program, folder / "program.c"]
    folders = [SOURCE / "libibverbs/include", SOURCE / "providers/cxi/include", BUILD / "include"]
    headers = [f"-I{folder}" for folder in folders]
    library = [f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib", *libraries]
    subprocess.run(command + headers + library, check=True)
    return program


@pytest.fixture
def hello(tmp_path):
    (source,) = programs("libibverbs/man/ibv_ru.7.md")
    return build(source, tmp_path, "-libverbs")


@pytest.mark.parametrize("job", [[], ["10"]], ids=["default-job", "granted-job"])
def test_the_program_of_ibv_ru_sends_itself_a_message(cassini, hello, job):
    assert succeeded(cassini.run(hello, *job)).stdout == "hello\n"


def test_the_program_of_ibv_ru_names_the_refusal_of_a_job(cassini, hello):
    result = cassini.run(hello, "77")
    assert result.returncode == 1
    assert result.stderr.startswith("job: ")


@pytest.fixture
def first_queue(tmp_path):
    (source,) = programs("providers/cxi/man/cxidv.7.md.in")
    return build(source, tmp_path, "-lcxiverbs", "-libverbs")


def test_the_program_of_cxidv_makes_an_event_queue(cassini, first_queue):
    assert re.fullmatch(r"event queue \d+\n", succeeded(cassini.run(first_queue)).stdout)


def test_the_program_of_cxidv_names_a_missing_grant(cassini, first_queue):
    result = cassini.run(first_queue, options=["--default-service", "off"])
    assert (result.returncode, result.stderr) == (1, "logical NI: Key has been revoked\n")
