# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Options and limits of cxi_sim that only show with real programs."""

import pytest
from conftest import free_port

ENDLESS = "-n 1000000000"


def test_a_peer_without_a_link_is_given_up_after_the_chosen_time(cassini):
    # The link of the server falls when the two have met; 20 seconds are less than the default. The message under
    # way is given up, by the side whose it is.
    program = f"{cassini.bin}/ibv_ru_pingpong {ENDLESS} -p {free_port()}"
    script = f"""
        {program} -d cxi0 >"$TMPDIR/server" 2>&1 & server=$!
        until stdbuf -oL {program} -d cxi1 localhost >"$TMPDIR/client" 2>&1; do
          grep -q 'no connection' "$TMPDIR/client" || break; sleep 0.05
        done & waiter=$!
        until grep -q 'remote address' "$TMPDIR/client"; do kill -0 $waiter || break; sleep 0.05; done
        {cassini.bin}/cxi_sim set link cxi0 down
        wait $waiter; kill $server 2>/dev/null; wait $server
        cat "$TMPDIR"/{{server,client}}; rm "$TMPDIR"/{{server,client}}
    """
    result = cassini.run("bash", "-c", script, options=("--give-up", 0.1), timeout=20)
    assert "transport retry counter exceeded" in result.stdout, result.stdout + result.stderr


@pytest.mark.parametrize("time", ["0", "soon", "1e9"])
def test_a_time_that_makes_no_sense_is_refused(cassini, time):
    result = cassini.run("true", options=("--give-up", time))
    assert result.returncode == 125
    assert len(result.stderr.splitlines()) == 1 and "--give-up" in result.stderr


def test_a_file_size_limit_is_an_error_and_not_a_signal(cassini):
    command = cassini.command("true")
    result = cassini.plain("sh", "-c", 'ulimit -f 0 && "$@"', "limited", *command)
    assert result.returncode == 125
    assert len(result.stderr.splitlines()) == 1 and "File too large" in result.stderr
