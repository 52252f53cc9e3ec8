# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What reliable-unconnected verbs promise, tried between processes on the software Cassini."""

import pytest
from conftest import succeeded


def keep(cassini, promise, *options, **how):
    return succeeded(cassini.run(cassini.programs / "ru_promises", promise, *options, **how))


@pytest.mark.parametrize("place", [[], ["--one-nic"]], ids=["two-nics", "one-nic"])
@pytest.mark.parametrize("region", ["", "-indexed"], ids=["default", "indexed"])
@pytest.mark.parametrize(
    "access",
    [
        "wrong-vni",
        "wrong-key",
        "stale-key",
        "region-not-attached",
        "missing-right",
        "out-of-bounds",
    ],
)
def test_a_forbidden_access_fails_changes_nothing_and_harms_nobody(cassini, access, region, place):
    keep(cassini, access + region, *place)


@pytest.mark.parametrize("region", ["", "-indexed"], ids=["default", "indexed"])
def test_an_access_to_nothing_at_a_place_that_exists_succeeds(cassini, region):
    keep(cassini, "zero-length" + region)


def test_one_key_in_two_vnis_names_two_regions(cassini):
    keep(cassini, "one-key-in-two-vnis")
