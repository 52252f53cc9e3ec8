# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""ibv_ru_pingpong as a newcomer runs it: two plain commands that meet."""

import os
import re

import pytest
from conftest import BUILD, NO_LAUNCHER, succeeded


def pingpong(cassini, *options, server="cxi0", client="cxi1", **how):
    return cassini.pair("ibv_ru_pingpong", ["-d", server, *options], ["-d", client, *options], **how)


@pytest.mark.parametrize("size", [1, 64, 192, 193, 4096, 65536, 1 << 20])
@pytest.mark.parametrize("mode", [[], ["-e"]], ids=["poll", "events"])
def test_sizes_with_data_check(cassini, size, mode):
    result = succeeded(pingpong(cassini, "-c", "-s", size, "-n", 50, "-r", 20, *mode))
    assert "invalid data" not in result.stdout


@pytest.mark.parametrize("options", [["-I", "32"], ["-I", "64"], ["-N"], ["-L"], ["-S", "8"], ["-N", "-L", "-S", "3"]])
def test_ways_of_posting(cassini, options):
    succeeded(pingpong(cassini, "-c", "-n", 50, *options))


def test_two_processes_on_one_nic(cassini):
    succeeded(pingpong(cassini, "-n", 50, client="cxi0"))


def test_explicit_queue_pair_numbers(cassini):
    result = succeeded(pingpong(cassini, "-n", 10, "--pidonfep", 17, "--ri", 5))
    assert "QPN 0x005011" in result.stdout


def test_output_names_size_iterations_time_and_bandwidth(cassini):
    result = succeeded(pingpong(cassini, "-n", 100, "-s", 4096))
    assert re.search(r"819200 bytes in [\d.]+ seconds = [\d.]+ Mbit/sec", result.stdout)
    assert re.search(r"100 iters in [\d.]+ seconds = [\d.]+ usec/iter", result.stdout)
    assert re.search(r"local address:  LID 0x0000, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}, GID fe80::", result.stdout)


def test_a_job_that_is_not_granted_is_explained(cassini):
    result = cassini.run(cassini.bin / "ibv_ru_pingpong", env={"SLINGSHOT_VNIS": "77", **NO_LAUNCHER})
    assert result.returncode != 0
    assert "77" in result.stderr and len(result.stderr.strip().splitlines()) == 1


def test_a_disabled_default_service_is_explained(cassini):
    result = cassini.run(
        cassini.bin / "ibv_ru_pingpong", options=["--default-service", "off"], env=NO_LAUNCHER
    )
    assert result.returncode != 0
    assert len(result.stderr.strip().splitlines()) == 1


def test_without_any_device_the_program_says_what_to_do(cassini):
    result = cassini.plain(cassini.bin / "ibv_ru_pingpong")
    assert result.returncode != 0
    assert "cxi_sim" in result.stderr and len(result.stderr.strip().splitlines()) == 1


def test_another_kernel_abi_is_explained(cassini):
    result = cassini.run(cassini.bin / "ibv_ru_pingpong", options=["--abi-version", 99])
    assert result.returncode != 0
    assert "99" in result.stderr


def test_without_a_provider_library_the_program_says_so(cassini, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("hiding the provider's configuration needs root")
    if cassini.plain("unshare", "--mount", "true").returncode:
        pytest.skip("hiding the provider's configuration needs a mount namespace")
    empty = tmp_path / "empty"
    empty.mkdir()
    hide = f"mount --bind {empty} {BUILD / 'etc' / 'libibverbs.d'} && exec {cassini.bin}/ibv_ru_pingpong"
    result = cassini.run("unshare", "--mount", "sh", "-c", hide)
    assert result.returncode != 0
    assert "provider" in result.stderr
