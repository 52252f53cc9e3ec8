# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What cmake --install puts into a prefix of the caller's works there, without a word about the build folder."""

import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import BUILD, succeeded


def output(*command, **more):
    environment = {**os.environ, **more}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    if not shutil.which("cmake"):
        pytest.skip("there is no cmake")
    folder = tmp_path_factory.mktemp("prefix")
    output("cmake", "--install", BUILD, "--prefix", folder)
    return folder


@pytest.fixture(scope="module")
def flags(prefix):
    if not shutil.which("pkg-config"):
        pytest.skip("there is no pkg-config")
    (folder,) = {path.parent for path in prefix.rglob("*.pc")}
    return output("pkg-config", "--cflags", "--libs", "libcxiverbs", PKG_CONFIG_PATH=str(folder)).split()


def test_pkg_config_names_the_folders_of_the_prefix(prefix, flags):
    folders = [flag[2:] for flag in flags if flag[:2] in ("-I", "-L")]
    assert len(folders) >= 2
    assert all(pathlib.Path(folder).is_dir() and folder.startswith(f"{prefix}/") for folder in folders)


def test_installed_examples_are_built_with_pkg_config_and_run(cassini, prefix, flags, tmp_path):
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("there is no C compiler")
    (common,) = prefix.rglob("examples/common.c")
    shared = [source for source in common.parent.glob("*.c") if not source.stem.startswith("cxidv_")]
    (libraries,) = [flag[2:] for flag in dict.fromkeys(flags) if flag.startswith("-L")]
    programs = sorted(common.parent.glob("cxidv_*.c"))
    assert len(programs) == 3
    for source in programs:
        program = tmp_path / source.stem
        output(compiler, "-o", program, source, *shared, *flags, f"-Wl,-rpath,{libraries}")
        succeeded(cassini.run(program))


def test_installed_programs_use_the_installed_libraries(cassini, prefix):
    if not os.access(prefix / "bin" / "ibv_devices", os.X_OK):
        pytest.skip("the prefix has no folder bin")
    used = output("ldd", prefix / "bin" / "ibv_devices")
    assert any(line.split()[2].startswith(str(prefix)) for line in used.splitlines() if "libibverbs" in line)
    assert "cxi0" in succeeded(cassini.run(prefix / "bin" / "ibv_devices")).stdout
