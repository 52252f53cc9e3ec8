# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""How ibv_ru_pingpong and ibv_ru_rma find each other, and what becomes of one when the other fails to come."""

import socket

import pytest
from conftest import free_port, succeeded

FAILURE = {"ibv_ru_pingpong": 1, "ibv_ru_rma": 255}
NOBODY = 65534

every_program = pytest.mark.parametrize("program", FAILURE)

# The victim is stopped in the middle and its NIC still takes what the other sends: the other has nothing left
# to do but to wait. Then the victim dies.
SURVIVOR = r"""
victim=$1 port=$2 program=$3; shift 3
"$program" -d cxi0 -p "$port" "$@" >"$TMPDIR/server" 2>"$TMPDIR/server.err" & server=$!
while kill -0 $server; do
  "$program" -d cxi1 -p "$port" "$@" localhost >"$TMPDIR/client" 2>"$TMPDIR/client.err" & client=$!
  until grep -q remote "$TMPDIR/client" || ! kill -0 $client; do sleep 0.05; done
  grep -q remote "$TMPDIR/client" && break
done 2>/dev/null
if [ $victim = client ]; then dying=$client living=$server; else dying=$server living=$client; fi
kill -STOP $dying; sleep 0.5; kill -KILL $dying
wait $living; status=$?
[ $victim = client ] && cat "$TMPDIR/server.err" || cat "$TMPDIR/client.err"
rm "$TMPDIR"/{server,client}{,.err}
exit $status
"""

# What a server says whose peer behaves in that way.
STRANGER = r"""
act=$1 port=$2; shift 2
"$@" -p "$port" >"$TMPDIR/server" 2>&1 & server=$!
until exec 3<>/dev/tcp/localhost/"$port"; do kill -0 $server || break; sleep 0.05; done 2>/dev/null
eval "$act"
exec 3>&-
wait $server; status=$?
cat "$TMPDIR/server"; rm "$TMPDIR/server"
exit $status
"""


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as listener:
            listener.bind(("::1", 0))
    except OSError:
        return False
    return True


def failed_with_one_line(result, program, words):
    assert result.returncode == FAILURE[program], result.stdout + result.stderr
    lines = [line for line in (result.stdout + result.stderr).splitlines() if line.startswith(program)]
    assert len(lines) == 1 and words in lines[0]


@every_program
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1"])
def test_a_host_is_a_name_or_an_address_of_either_family(cassini, program, host):
    if host == "::1" and not has_ipv6():
        pytest.skip("there is no IPv6 here")
    succeeded(cassini.pair(program, ["-n", 5], ["-n", 5], host=host))


@every_program
@pytest.mark.parametrize("users", [(NOBODY, None), (None, NOBODY), (NOBODY, NOBODY)])
def test_users_meet_whoever_they_are(cassini, program, users):
    cassini.user(NOBODY)
    succeeded(cassini.pair(program, ["-n", 5], ["-d", "cxi1", "-n", 5], users=users))


@every_program
def test_a_host_that_is_not_known_is_named(cassini, program):
    result = cassini.run(cassini.bin / program, "no-such-host.invalid")
    failed_with_one_line(result, program, "the host no-such-host.invalid is not known")


@every_program
def test_a_port_that_is_taken_is_explained(cassini, program):
    with socket.socket(socket.AF_INET6 if has_ipv6() else socket.AF_INET) as other:
        other.bind(("", 0))
        other.listen()
        port = other.getsockname()[1]
        result = cassini.run(cassini.bin / program, "-p", port)
    failed_with_one_line(result, program, f"TCP port {port} cannot be used")


@every_program
@pytest.mark.parametrize(
    "act, words",
    [
        (":", "the peer gave up"),
        ("head -c 200 /dev/zero >&3", "the peer sent no address"),
        ("printf '%200s' hello >&3", "the peer sent no address"),
    ],
    ids=["silent", "zeros", "text"],
)
def test_a_peer_that_is_none_is_not_trusted(cassini, program, act, words):
    command = ["bash", "-c", STRANGER, "stranger", act, free_port(), cassini.bin / program]
    failed_with_one_line(cassini.run(*command), program, words)


@every_program
@pytest.mark.parametrize("victim, mode", [("client", []), ("server", ["-e"])], ids=["poll", "events"])
def test_a_peer_that_dies_is_not_waited_for(cassini, program, victim, mode):
    command = ["bash", "-c", SURVIVOR, "survivor", victim, free_port(), cassini.bin / program]
    result = cassini.run(*command, "-n", 10000000, *mode)
    failed_with_one_line(result, program, "the peer ")
    assert len(result.stdout.splitlines()) == 1
