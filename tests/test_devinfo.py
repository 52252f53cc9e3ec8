# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""ibv_devices and ibv_devinfo on the software Cassini."""

import pytest
from conftest import succeeded


def devinfo(cassini, *options, **how):
    return cassini.run(cassini.bin / "ibv_devinfo", *options, **how)


def test_list_counts_the_devices(cassini):
    assert succeeded(devinfo(cassini, "-l")).stdout == "2 HCAs found:\n\tcxi0\n\tcxi1\n\n"
    assert succeeded(devinfo(cassini, "-l", nics=1)).stdout == "1 HCA found:\n\tcxi0\n\n"


def test_one_device_by_name(cassini):
    output = succeeded(devinfo(cassini, "-d", "cxi1")).stdout
    assert output.startswith("hca_id:\tcxi1\n")
    assert "cxi0" not in output


def test_transport_and_gid_type_are_slingshot(cassini):
    output = succeeded(devinfo(cassini, "-v", "-d", "cxi0")).stdout
    assert "transport:\t\t\tSlingshot (5)" in output
    assert ", Slingshot" in output
    assert "max_job_ids:" in output


def test_port_is_up(cassini):
    output = succeeded(devinfo(cassini, "-d", "cxi0", "-i", "1")).stdout
    assert "state:\t\t\tPORT_ACTIVE (4)" in output


@pytest.mark.parametrize(
    "options, words",
    [(["-d", "nothing0"], "nothing0"), (["-d", "cxi0", "-i", "7"], "port")],
)
def test_what_is_not_there_is_named(cassini, options, words):
    result = devinfo(cassini, *options)
    assert result.returncode != 0
    assert words in result.stderr


def test_no_device_at_all(cassini):
    result = cassini.plain(cassini.bin / "ibv_devinfo")
    assert result.returncode != 0
    assert result.stderr.strip()


@pytest.mark.parametrize("command", ["ibv_devices", "ibv_devinfo", "ibv_devinfo -l"])
def test_output_that_cannot_be_written_is_a_failure(cassini, command):
    result = cassini.run("sh", "-c", f"{cassini.bin}/{command} >/dev/full")
    assert result.returncode == 1
    assert "could not be written" in result.stderr


def test_a_trace_that_cannot_be_written_is_reported(cassini):
    result = cassini.run(
        cassini.programs / "ru_exchange", "full", options=["--trace", "/dev/full"]
    )
    assert "trace is incomplete" in result.stderr
