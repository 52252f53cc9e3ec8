# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Messages between two processes on the software Cassini, checked byte by byte."""

import pytest
from conftest import succeeded

NOBODY = 65534
PLACES = {"one-nic": "cxi0", "two-nics": "cxi1"}


def exchange(cassini, scenario, *options, place="two-nics", **how):
    return cassini.run(
        cassini.programs / "ru_exchange", scenario, "--sender-dev", PLACES[place], *options, **how
    )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("imm", ["none", "32", "64"])
@pytest.mark.parametrize("how", ["poll", "events"])
def test_messages_of_every_size_arrive_whole(cassini, place, imm, how):
    options = ["--imm", imm] + (["--events"] if how == "events" else [])
    succeeded(exchange(cassini, "traffic", *options, place=place))


@pytest.mark.parametrize("sges", [2, 8])
def test_messages_in_several_pieces_arrive_whole(cassini, sges):
    succeeded(exchange(cassini, "traffic", "--sge", sges))


def test_an_unprivileged_user_exchanges_messages(cassini):
    succeeded(exchange(cassini, "traffic", "--imm", "64", user=cassini.user(NOBODY)))


@pytest.mark.parametrize("how", ["poll", "events"])
def test_a_receiver_that_posts_late_gets_the_message(cassini, how):
    options = ["--events"] if how == "events" else []
    succeeded(exchange(cassini, "late", "--size", 64, 4096, *options))


def test_without_a_receive_the_sender_gives_up_and_stays_usable(cassini):
    succeeded(exchange(cassini, "never", "--rnr-retry", 2))


def test_a_message_longer_than_the_receive_fails_on_both_sides(cassini):
    succeeded(exchange(cassini, "truncate"))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("how", ["poll", "events"])
def test_a_peer_that_dies_in_the_middle_fails_the_send(cassini, place, how):
    options = ["--events"] if how == "events" else []
    succeeded(exchange(cassini, "die", *options, place=place))


def test_a_full_queue_refuses_and_loses_nothing(cassini):
    succeeded(exchange(cassini, "full"))
