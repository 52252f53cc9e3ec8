# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unmodified programs of the distribution, run with this project's libibverbs on the software Cassini."""

import os

import pytest
from conftest import BUILD, succeeded

NOBODY = 65534
OUR_LIBRARY = {"LD_LIBRARY_PATH": str(BUILD / "lib")}


def users():
    return [None, NOBODY] if os.geteuid() == 0 else [None]


@pytest.mark.parametrize("user", users(), ids=lambda user: "user" if user else "caller")
def test_debians_ibv_devinfo_shows_the_nics(cassini, installed, user):
    result = succeeded(cassini.run(installed("ibv_devinfo"), "-v", env=OUR_LIBRARY, user=user))
    blocks = result.stdout.split("hca_id:")[1:]
    assert [block.split()[0] for block in blocks] == ["cxi0", "cxi1"]
    for block in blocks:
        assert "PORT_ACTIVE (4)" in block
        assert "link_layer:\t\tEthernet" in block
        # That release suppresses GIDs of a type that it does not know, but says how many there are.
        assert "gid_tbl_len:" in block


def test_debians_ibv_devinfo_lists_names(cassini, installed):
    result = succeeded(cassini.run(installed("ibv_devinfo"), "-l", env=OUR_LIBRARY))
    assert result.stdout.split() == ["2", "HCAs", "found:", "cxi0", "cxi1"]


def test_debians_ibv_devices_shows_the_same_as_ours(cassini, installed):
    theirs = succeeded(cassini.run(installed("ibv_devices"), env=OUR_LIBRARY))
    ours = succeeded(cassini.run(cassini.bin / "ibv_devices"))
    assert theirs.stdout == ours.stdout
    assert "cxi0" in ours.stdout and "cxi1" in ours.stdout
