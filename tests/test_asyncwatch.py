# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""ibv_asyncwatch while links of the software Cassini go down and come up, and a NIC fails."""

import pytest
from conftest import BUILD, succeeded

# Watches cxi0 in the background. steps says what to do, and with which line each has to show.
SCRIPT = r"""
watch=$1 cxi_sim=$2; shift 2
"$watch" -d cxi0 >"$TMPDIR/events" 2>"$TMPDIR/errors" & watcher=$!
wait_for() {
  for _ in $(seq 600); do
    grep -q "$1" "$TMPDIR/events" && return
    sleep 0.05
  done
  echo "no line with '$1'"
  exit 9
}
wait_for 'async event FD'
while [ $# -gt 0 ]; do
  # shellcheck disable=SC2086  # several words are wanted
  "$cxi_sim" set $1 || exit 8
  [ -z "$2" ] || wait_for "$2"
  shift 2
done
[ -n "$STAYS" ] && kill $watcher
wait $watcher; status=$?
cat "$TMPDIR/events" "$TMPDIR/errors"
rm "$TMPDIR/events" "$TMPDIR/errors"
exit $status
"""


def watch(cassini, program, *steps, stays=False):
    words = [word for step in steps for word in step]
    env = {"LD_LIBRARY_PATH": str(BUILD / "lib"), "STAYS": "1" if stays else ""}
    return cassini.run("bash", "-c", SCRIPT, "watch", program, cassini.bin / "cxi_sim", *words, env=env)


@pytest.fixture(params=["ours", "debian"])
def program(request, cassini, installed):
    return cassini.bin / "ibv_asyncwatch" if request.param == "ours" else installed("ibv_asyncwatch")


DOWN = ("link cxi0 down", "PORT_ERR")
UP = ("link cxi0 up", "PORT_ACTIVE")
FAILED = ("device cxi0 failed", "DEVICE_FATAL")


def test_a_link_that_goes_down_and_up_shows_as_events(cassini, program):
    result = watch(cassini, program, DOWN, UP, stays=True)
    assert result.returncode == 128 + 15, result.stdout + result.stderr
    first, *events = result.stdout.splitlines()
    assert first.startswith("cxi0: async event FD ")
    assert events == [
        "  event_type IBV_EVENT_PORT_ERR (10), port 1",
        "  event_type IBV_EVENT_PORT_ACTIVE (9), port 1",
    ]


def test_a_link_of_another_nic_does_not_show(cassini, program):
    other = ("link cxi1 down", "")
    result = watch(cassini, program, other, DOWN, stays=True)
    assert result.stdout.splitlines()[1:] == ["  event_type IBV_EVENT_PORT_ERR (10), port 1"]


def test_a_device_that_fails_ends_the_program(cassini, program):
    result = watch(cassini, program, DOWN, FAILED)
    assert result.returncode == 1, result.stdout + result.stderr
    assert result.stdout.splitlines()[1:3] == [
        "  event_type IBV_EVENT_PORT_ERR (10), port 1",
        "  event_type IBV_EVENT_DEVICE_FATAL (8), port 1",
    ]


def test_why_it_ends_is_said_in_one_line(cassini):
    result = watch(cassini, cassini.bin / "ibv_asyncwatch", FAILED)
    assert result.stdout.splitlines()[2].startswith("ibv_asyncwatch: no more events of cxi0: ")
    assert len(result.stdout.splitlines()) == 3


def test_the_port_is_down_between_the_events(cassini):
    script = (
        f"{cassini.bin}/cxi_sim set link cxi0 down && {cassini.bin}/ibv_devinfo -d cxi0;"
        f"{cassini.bin}/cxi_sim set link cxi0 up && {cassini.bin}/ibv_devinfo -d cxi0"
    )
    output = succeeded(cassini.run("sh", "-c", script)).stdout
    assert [line.split()[1] for line in output.splitlines() if "state:" in line] == [
        "PORT_DOWN",
        "PORT_ACTIVE",
    ]


def test_a_device_that_is_not_there_is_named(cassini):
    result = cassini.run(cassini.bin / "ibv_asyncwatch", "-d", "nothing0")
    assert result.returncode == 1
    assert result.stderr == "IB device nothing0 not found: choose one of cxi0, cxi1\n"


def test_without_any_device_the_program_says_what_to_do(cassini):
    result = cassini.plain(cassini.bin / "ibv_asyncwatch")
    assert result.returncode == 1
    assert "cxi_sim" in result.stderr and len(result.stderr.splitlines()) == 1
