# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The examples of direct verbs: what they print, on one NIC and on two, and how they fail."""

import re

import pytest

from conftest import free_port, succeeded

SIDES = {
    "one NIC": ([], "cxi0", "cxi0"),
    "the second NIC": (["cxi1"], "cxi1", "cxi1"),
    "two NICs": (["cxi0", "cxi1"], "cxi0", "cxi1"),
}
EXAMPLES = ["cxidv_put_get", "cxidv_triggered_put", "cxidv_tag_matching"]


@pytest.fixture(params=SIDES.values(), ids=SIDES.keys())
def run(request, cassini):
    """Runs an example; returns the lines it printed behind the one with the addresses, which is checked."""
    devices, initiator, target = request.param

    def run_example(name):
        lines = succeeded(cassini.run(cassini.bin / name, *devices)).stdout.splitlines()
        where = re.fullmatch(r"initiator (\w+) NID (\d+) PID (\d+), target (\w+) NID (\d+) PID (\d+)", lines[0])
        assert where, lines[0]
        assert (where[1], where[4]) == (initiator, target)
        assert (where[2] == where[5]) == (initiator == target)
        if initiator == target:
            assert where[3] != where[6]
        return lines[1:]

    return run_example


INITIATOR_HEARS = [
    "put 1: 1000 bytes acknowledged",
    "get 2: 1000 bytes, the same that were put",
]
TARGET_HEARS = [
    "target: put of 1000 bytes at offset 128, header data 0x600d",
    "target: get of 1000 bytes at offset 128",
]


def test_put_and_get_tell_both_sides(run):
    assert run("cxidv_put_get") == INITIATOR_HEARS + TARGET_HEARS


@pytest.mark.parametrize("devices", [("cxi0", "cxi0"), ("cxi0", "cxi1")], ids=["one NIC", "two NICs"])
def test_put_and_get_tell_both_processes(cassini, devices):
    target, initiator = (["-d", device] for device in devices)
    result = succeeded(cassini.pair("cxidv_put_get", target, initiator))
    assert result.stdout.splitlines() == TARGET_HEARS + INITIATOR_HEARS
    assert result.stderr == ""


@pytest.mark.parametrize("arguments", [["-x"], ["-p"], ["-d", "cxi0"], ["-p", "1", "a", "b"]], ids=" ".join)
def test_wrong_arguments_of_two_processes_are_explained(cassini, arguments):
    result = cassini.run(cassini.bin / "cxidv_put_get", *arguments)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith("usage: ")


def test_a_host_without_a_target_is_explained(cassini):
    result = cassini.run(cassini.bin / "cxidv_put_get", "-p", free_port(), "localhost")
    assert (result.returncode, result.stderr) == (1, "connect: Connection refused\n")


def test_the_nic_answers_the_third_message(run):
    assert run("cxidv_triggered_put") == [
        "message 1 acknowledged",
        "message 2 acknowledged",
        "target: 2 messages, 0 failures",
        "message 3 sent; the NIC answered 0x42",
        "target: 3 messages, 0 failures",
    ]


def test_an_unexpected_message_is_found_and_taken_from_the_overflow_buffer(run):
    assert run("cxidv_tag_matching") == [
        'tag 7: receive 0, priority list, "for a posted receive"',
        "tag 8: unexpected, overflow list",
        "search for tag 9: nothing",
        "search for tag 8: a message of 24 bytes",
        'tag 8: receive 1, from the overflow buffer, "come before its receive"',
        "search for tag 8: nothing",
    ]


@pytest.mark.parametrize("example", EXAMPLES)
def test_wrong_arguments_are_explained(cassini, example):
    result = cassini.run(cassini.bin / example, "cxi0", "cxi1", "cxi2")
    assert result.returncode == 1
    assert result.stderr.startswith("usage: ")
    result = cassini.run(cassini.bin / example, "nosuch")
    assert (result.returncode, result.stderr) == (1, "nosuch: there is no such device\n")


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_missing_grant_is_explained(cassini, example):
    result = cassini.run(cassini.bin / example, options=["--default-service", "off"])
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "logical NI: Key has been revoked",
        "service 1 does not admit this user: ask for a grant",
    ]


@pytest.mark.parametrize("example", EXAMPLES)
def test_without_a_nic_there_is_one_line(cassini, example):
    result = cassini.plain(cassini.bin / example)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
