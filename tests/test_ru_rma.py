# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""ibv_ru_rma: two programs that access each other's memory."""

import re

import pytest
from conftest import NO_LAUNCHER, succeeded


def rma(cassini, server_options="", client_options=None, client="cxi1"):
    if client_options is None:
        client_options = server_options
    server_options, client_options = server_options.split(), client_options.split()
    return cassini.pair("ibv_ru_rma", ["-d", "cxi0", *server_options], ["-d", client, *client_options])


def both_completed(result, iterations=100):
    assert succeeded(result).stdout.count(f"Completed {iterations} iterations\n") == 2


@pytest.mark.parametrize("client", ["cxi0", "cxi1"], ids=["one-nic", "two-nics"])
@pytest.mark.parametrize("way", ["rma", "rma_ex", "rma_ex64"])
@pytest.mark.parametrize("mode", ["", "-e"], ids=["poll", "events"])
def test_two_commands_meet(cassini, client, way, mode):
    both_completed(rma(cassini, f"-c -t {way} {mode}", client=client))


@pytest.mark.parametrize(
    "options",
    [
        *("-D", "-J", "-A", "-u 77", "-u 0xfffffffffffffff", "-W", "-R", "-W -R -u 77", "-S 8"),
        *("-Q", "--ri 3", "--pidonfep 20", "-s 1", "-s 1000003 -S 3", "-m 2048", "-r 7"),
        *("-D -J -A -u 9", "-D -J -A -e -t rma", "-j 10", "-b"),
    ],
)
def test_every_kind_of_region_key_and_address(cassini, options):
    both_completed(rma(cassini, f"-c {options}"))


def test_iterations_are_counted(cassini):
    both_completed(rma(cassini, "-n 3"), iterations=3)


def test_output_names_the_test_and_both_addresses(cassini):
    lines = succeeded(rma(cassini)).stdout.splitlines()
    title = "RMA Extended Read/Write Test (64b imm)"
    assert lines[:3] == ["", title, "=" * len(title)]
    assert re.fullmatch(r"local address: QPN 0x[0-9a-f]{6}, GID fe80::[0-9a-f:]+", lines[3])
    assert re.fullmatch(r"remote address: QPN 0x[0-9a-f]{6}, GID fe80::[0-9a-f:]+", lines[4])
    assert lines[5] == "Completed 100 iterations"


def test_sides_of_two_jobs_do_not_meet_at_a_relative_server(cassini):
    result = rma(cassini, "-j 10", "-j 1")
    assert result.returncode == 255
    assert "the server is in job 10, the client in job 1" in result.stdout


@pytest.mark.parametrize(
    "options, words",
    [
        ("-j 77", "no grant for VNI 77"),
        ("-j 65536", "use a --job-id from 1 to 65535, not 65536"),
        ("-j 0", "use a --job-id from 1 to 65535, not 0"),
        ("-u 0xffffffffffffffff", "--user-rkey"),
        ("-b -J", "--job-mr and --absolute"),
        ("-m 4096", "use a smaller --mtu"),
    ],
)
def test_bad_options_are_explained_in_one_line(cassini, options, words):
    result = cassini.run(cassini.bin / "ibv_ru_rma", *options.split(), env=NO_LAUNCHER)
    assert result.returncode == 255
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("options", ["", "-A", "-D -e", "-t rma", "-u 5"])
def test_an_absolute_server_is_reached_from_another_job(cassini, options):
    both_completed(rma(cassini, f"-c -b -j 10 {options}", f"-c -j 1 {options}"))
