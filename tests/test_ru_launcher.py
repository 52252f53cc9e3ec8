# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Programs that are refused a VNI start themselves again under cxi_launcher."""

import shutil

import pytest
from conftest import succeeded

PROGRAMS = {"ibv_ru_pingpong": 1, "ibv_ru_rma": 255}  # and their status of failure

# Notes how it was called, and then does what is asked of it.
LAUNCHER = """#!/bin/bash
printf '%s\\n' "$@" >>{notes}
while [ "$1" != -- ]; do shift; done
shift
{then}
"""
GRANTING = "unset SLINGSHOT_VNIS; exec \"$@\""  # VNI 1 of the default service
REFUSING = "exec \"$@\""


class Launcher:
    """A cxi_launcher in a folder."""

    def __init__(self, folder, then):
        folder.mkdir()
        folder.chmod(0o755)
        self.folder = folder
        self.notes = folder / "notes"
        self.path = folder / "cxi_launcher"
        self.path.write_text(LAUNCHER.format(notes=self.notes, then=then))
        self.path.chmod(0o755)

    def arguments(self):
        return self.notes.read_text().splitlines() if self.notes.exists() else []

    def environment(self, **extra):
        return {"PATH": f"{self.folder}:/usr/bin:/bin", **extra}


@pytest.fixture
def program(cassini, tmp_path, request):
    """The program, in a folder where no launcher stands beside it."""
    folder = tmp_path / "programs"
    folder.mkdir()
    return shutil.copy(cassini.bin / request.param, folder)


every_program = pytest.mark.parametrize("program", PROGRAMS, indirect=True)


def status_of(program):
    return PROGRAMS[program.rsplit("/", 1)[1]]


@every_program
def test_a_refused_program_asks_the_launcher_for_its_vni_once(cassini, tmp_path, program):
    launcher = Launcher(tmp_path / "launcher", REFUSING)
    options = ["-d", "cxi1", "-n", "3", "some host"]
    result = cassini.run(program, *options, env=launcher.environment(SLINGSHOT_VNIS="77,78"))
    assert result.returncode == status_of(program)
    assert launcher.arguments() == ["--device", "cxi1", "--vni", "77", "--", program, *options]
    assert "no grant for VNI 77 on cxi1" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@every_program
def test_a_disabled_default_service_is_a_missing_grant(cassini, tmp_path, program):
    launcher = Launcher(tmp_path / "launcher", REFUSING)
    result = cassini.run(program, options=["--default-service", "off"], env=launcher.environment())
    assert result.returncode == status_of(program)
    assert launcher.arguments() == ["--device", "cxi0", "--vni", "1", "--", program]


@every_program
def test_what_the_launcher_grants_is_used(cassini, tmp_path, program):
    launcher = Launcher(tmp_path / "launcher", GRANTING)
    env = launcher.environment(SLINGSHOT_VNIS="77")
    succeeded(cassini.pair(program, ["-d", "cxi0", "-n", 5], ["-d", "cxi1", "-n", 5], env=env))
    assert launcher.arguments().count("--vni") == 2


@every_program
def test_a_launcher_beside_the_program_comes_first(cassini, tmp_path, program):
    beside = Launcher(tmp_path / "beside", REFUSING)
    other = Launcher(tmp_path / "launcher", REFUSING)
    copy = shutil.copy(program, beside.folder)
    cassini.run(copy, env=other.environment(SLINGSHOT_VNIS="77"))
    assert beside.arguments() == ["--device", "cxi0", "--vni", "77", "--", copy]
    assert other.arguments() == []


@every_program
def test_a_launcher_that_fails_decides_the_exit_status(cassini, tmp_path, program):
    launcher = Launcher(tmp_path / "launcher", "echo 'no service left' >&2; exit 3")
    result = cassini.run(program, env=launcher.environment(SLINGSHOT_VNIS="77"))
    assert (result.returncode, result.stderr) == (3, "no service left\n")


@every_program
def test_without_a_launcher_the_refusal_is_explained(cassini, program):
    result = cassini.run(program, env={"PATH": "/usr/bin:/bin", "SLINGSHOT_VNIS": "77"})
    assert result.returncode == status_of(program)
    assert "no grant for VNI 77 on cxi0: run it under cxi_launcher" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@every_program
def test_with_a_grant_no_launcher_is_asked(cassini, tmp_path, program):
    launcher = Launcher(tmp_path / "launcher", REFUSING)
    succeeded(cassini.pair(program, ["-n", 3], ["-n", 3], env=launcher.environment()))
    assert launcher.arguments() == []


def test_a_job_id_that_is_no_vni_is_not_asked_for(cassini, tmp_path):
    launcher = Launcher(tmp_path / "launcher", REFUSING)
    result = cassini.run(cassini.bin / "ibv_ru_rma", "-j", 65536, env=launcher.environment())
    assert result.returncode == 255
    assert launcher.arguments() == []
