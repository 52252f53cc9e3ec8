# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""cxi_launcher: grants, the user who gets them, and that they are taken back."""

import os
import pathlib
import re
import shutil
import signal

import pytest
from conftest import free_port, succeeded

SOURCE = pathlib.Path(__file__).resolve().parent.parent
NOBODY = 65534

# A program that has its grant until it is killed.
HOLD = "sh -c 'echo ready; exec sleep 60'"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="granting needs root")


@pytest.fixture
def launcher(cassini):
    return cassini.bin / "cxi_launcher"


@pytest.fixture
def launch(cassini, launcher):
    """Runs the launcher with options, and a shell script as its program."""

    def run(*options, script="true", **how):
        return cassini.run(launcher, *options, "--", "sh", "-c", script, **how)

    return run


def refused(result, *words):
    assert result.returncode == 125, result.stdout + result.stderr
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith("cxi_launcher: ")
    for word in words:
        assert word in result.stderr


def told(result):
    lines = [line for line in succeeded(result).stdout.splitlines() if line.startswith("SLINGSHOT_")]
    return dict(line.split("=", 1) for line in lines)


def test_the_program_is_told_what_it_was_granted(launch):
    env = {"SLINGSHOT_SVC_IDS": "99", "SLINGSHOT_VNIS": "3"}  # of somebody else's grant
    options = ("--vni", "1024-1027", "--tc", "low_latency,best_effort")
    grant = told(launch(*options, script="env", env=env))
    services = grant.pop("SLINGSHOT_SVC_IDS").split(",")
    assert grant == {
        "SLINGSHOT_VNIS": "1024,1025,1026,1027",
        "SLINGSHOT_DEVICES": "cxi0,cxi1",
        "SLINGSHOT_TCS": "0xa",
    }
    assert len(services) == 2 and all(int(each) > 1 for each in services)


def test_devices_are_granted_in_the_order_in_which_they_are_named(launch):
    grant = told(launch("--device", "cxi2", "--device", "cxi0", "--vni", "5,9", script="env", nics=3))
    assert grant["SLINGSHOT_DEVICES"] == "cxi2,cxi0"
    assert grant["SLINGSHOT_VNIS"] == "5,9"
    assert len(grant["SLINGSHOT_SVC_IDS"].split(",")) == 2


def test_the_program_runs_as_the_user_and_without_any_privilege(launch):
    script = "id -u; id -g; id -G; grep -E '^(Cap|NoNewPrivs)' /proc/self/status"
    lines = succeeded(launch("--vni", "5", "--user", "nobody", script=script)).stdout.splitlines()
    assert lines[:3] == [str(NOBODY)] * 3
    status = dict(line.split(":\t") for line in lines[3:])
    assert status.pop("NoNewPrivs") == "1"
    assert len(status) == 5 and all(int(caps, 16) == 0 for caps in status.values())


def test_root_has_no_privilege_left_either(launch):
    script = "grep -E '^Cap' /proc/self/status; id -u; mount -t tmpfs none /mnt"
    result = launch("--vni", "5", script=script)
    *status, user = result.stdout.splitlines()
    assert user == "0" and result.returncode != 0
    assert len(status) == 5 and all(int(line.split()[1], 16) == 0 for line in status)


@pytest.mark.parametrize(
    "missing, words", [("setgid", "set the groups"), ("setpcap", "drop the bounding set of capabilities")]
)
def test_a_caller_who_cannot_take_every_privilege_is_refused(cassini, launcher, missing, words):
    caller = ("setpriv", "--bounding-set", f"-{missing}", launcher)
    refused(cassini.run(*caller, "--vni", 5, "--user", "nobody", "--", "true"), words)


def test_a_user_and_a_group_are_names_or_numbers(launch):
    options = ("--vni", "5", "--user", "1234567", "--group", "daemon")
    ids = succeeded(launch(*options, script="id -u; id -g; id -G")).stdout.split()
    daemon = ids[1]
    assert ids == ["1234567", daemon, daemon] and daemon != "0"
    refused(launch("--vni", "5", "--user", "1234567"), "--group")
    refused(launch("--vni", "5", "--user", "a\nb\033[m"), '--user: there is no user "a?b?[m"')
    refused(launch("--vni", "5", "--user", "nosuchuser"), '--user: there is no user "nosuchuser"')
    refused(launch("--vni", "5", "--group", "nosuchgroup"), "--group: there is no group")


def test_the_grant_is_the_users_and_what_it_says(cassini, launch):
    put_get = cassini.bin / "cxidv_put_get"
    options = ("--vni", "1024-1031", "--user", "nobody")
    cassini.user(NOBODY)
    succeeded(launch(*options, script=f"{put_get} cxi0 cxi1", options=("--default-service", "off")))
    # Without the words that name the service, the user is admitted nowhere; nor is anybody else on it.
    off = ("--default-service", "off")
    script = f"unset SLINGSHOT_SVC_IDS; {put_get}"
    assert launch(*options, script=script, options=off).returncode != 0
    assert launch("--vni", "5", "--user", "daemon", script=put_get, options=off).returncode == 0


def test_a_vni_that_was_not_granted_is_an_error(cassini, launch):
    env = {"CXI_LAUNCHED_BY_EXAMPLE": "1"}  # the program asks for no other grant
    script = f"SLINGSHOT_VNIS=6 {cassini.bin}/ibv_ru_pingpong -d cxi0"
    result = launch("--vni", "5", script=script, env=env)
    assert result.returncode != 0 and "VNI 6" in result.stderr


def test_limits_are_kept(cassini, launch):
    env = {"CXI_LAUNCHED_BY_EXAMPLE": "1"}
    program = f"{cassini.bin}/cxidv_put_get"
    succeeded(launch("--vni", "5", "--limit", "txqs=2,eqs=max", script=program, env=env))
    result = launch("--vni", "5", "--limit", "txqs=0", script=program, env=env)
    assert result.returncode != 0


def test_a_shortage_names_the_resource_and_what_there_is(cassini, launch, launcher):
    refused(
        launch("--device", "cxi0", "--vni", "5", "--limit", "txqs=5000"),
        "cxi0: 5000 transmit queues are asked for (txqs), ",
        " are free, the device has 1024",
    )
    # What another one holds is not free.
    script = f"""
        {launcher} --device cxi0 --vni 5 --limit txqs=600 -- {HOLD} >"$TMPDIR/ready" &
        until [ -s "$TMPDIR/ready" ]; do sleep 0.01; done; rm "$TMPDIR/ready"
        {launcher} --device cxi0 --vni 6 --limit eqs=10,txqs=600 -- true; status=$?
        kill $!; wait; exit $status
    """
    refused(cassini.run("sh", "-c", script), "600 transmit queues", "the device has 1024")


def test_a_grant_that_cannot_be_made_on_every_device_is_made_on_none(cassini, launcher):
    # cxi1 has its range taken; afterwards cxi0 can still give the same range.
    script = f"""
        {launcher} --device cxi1 --vni 1024-1031 -- {HOLD} >"$TMPDIR/ready" &
        until [ -s "$TMPDIR/ready" ]; do sleep 0.01; done; rm "$TMPDIR/ready"
        {launcher} --vni 1024-1031 -- echo not reached; echo status $?
        {launcher} --device cxi0 --vni 1024-1031 -- echo again
        kill $!; wait
    """
    result = succeeded(cassini.run("sh", "-c", script))
    assert result.stdout.splitlines() == ["status 125", "again"]
    assert "cxi1: the VNIs 1024-1031 overlap" in result.stderr


@pytest.mark.parametrize(
    "script, status",
    [("exit 7", 7), ("kill -KILL $$", 137), ("kill -TERM $$", 143), ("exec nosuchprogram", 127)],
)
def test_the_exit_status_is_the_programs(launch, script, status):
    assert launch("--vni", "5", script=script).returncode == status


def test_a_program_that_cannot_be_run_is_explained(cassini, launcher):
    for program, status in (("nosuchprogram", 127), ("/etc/passwd", 126)):
        result = cassini.run(launcher, "--vni", 5, "--", program)
        assert result.returncode == status
        assert result.stderr.startswith(f"cxi_launcher: {program} cannot be run: ")
        assert len(result.stderr.splitlines()) == 1


def test_signals_are_passed_on(cassini, launcher):
    script = f"""
        {launcher} --vni 5 -- sh -c 'trap "echo told; exit 3" TERM; echo ready; while :; do sleep 0.05; done' \
          >"$TMPDIR/output" & launcher=$!
        until [ -s "$TMPDIR/output" ]; do sleep 0.01; done
        kill -TERM $launcher; wait $launcher; status=$?
        cat "$TMPDIR/output"; rm "$TMPDIR/output"; exit $status
    """
    result = cassini.run("sh", "-c", script)
    assert (result.returncode, result.stdout) == (3, "ready\ntold\n")


@pytest.mark.parametrize("number", ["PROF", "PIPE", "RTMIN+3"])
def test_every_signal_is_passed_on(cassini, launcher, number):
    script = f"""
        {launcher} --vni 5 -- bash -c 'trap "exit 3" {number}; echo ready; while :; do sleep 0.05; done' \
          >"$TMPDIR/output" & launcher=$!
        until [ -s "$TMPDIR/output" ]; do sleep 0.01; done; rm "$TMPDIR/output"
        kill -{number} $launcher; wait $launcher
    """
    assert cassini.run("bash", "-c", script).returncode == 3


def test_an_alarm_that_the_caller_has_set_ends_the_program(cassini, launcher):
    # As the kernel sends it, like the terminal's signals, but to the launcher alone.
    script = "import os, signal, sys; signal.alarm(1); os.execv(sys.argv[1], sys.argv[1:])"
    result = cassini.run(shutil.which("python3"), "-c", script, launcher, "--vni", 5, "--", "sleep", 60)
    assert result.returncode == 128 + signal.SIGALRM


def test_it_does_not_stop_where_the_caller_ignores_that(cassini, launcher):
    script = f"""
        trap "" TSTP
        {launcher} --vni 5 -- bash -c 'trap "exit 3" TERM; echo ready; while :; do sleep 0.05; done' \
          >"$TMPDIR/output" & launcher=$!
        until [ -s "$TMPDIR/output" ]; do sleep 0.01; done; rm "$TMPDIR/output"
        kill -TSTP $launcher; kill -TERM $launcher; wait $launcher
    """
    assert cassini.run("bash", "-c", script, timeout=20).returncode == 3


@pytest.mark.parametrize("program, status", [("nosuchprogram", 127), ("true", 125)])
def test_the_exit_status_is_the_same_when_nobody_reads_the_message(cassini, launcher, program, status):
    script = """if True:
        import os, subprocess, sys
        reader, writer = os.pipe()
        os.close(reader)
        sys.exit(subprocess.run(sys.argv[1:], stderr=writer).returncode % 256)
    """
    device = "cxi0" if status == 127 else "cxi7"
    command = (launcher, "--vni", 5, "--device", device, "--", program)
    assert cassini.run(shutil.which("python3"), "-c", script, *command).returncode == status


@pytest.mark.parametrize("victim", ["launcher", "program"])
def test_the_grant_is_taken_back_however_one_of_them_ends(cassini, launcher, victim):
    # A range can be granted again when the service that had it is gone.
    script = f"""
        {launcher} --vni 1024-1031 -- sh -c 'echo $$; exec sleep 60' >"$TMPDIR/output" & launcher=$!
        until [ -s "$TMPDIR/output" ]; do sleep 0.01; done
        program=$(cat "$TMPDIR/output"); rm "$TMPDIR/output"
        kill -KILL ${victim}; wait $launcher
        until {launcher} --vni 1024-1031 -- echo granted; do sleep 0.05; done 2>/dev/null
        kill $program 2>/dev/null
        true
    """
    assert succeeded(cassini.run("sh", "-c", script)).stdout == "granted\n"


def test_what_the_program_leaves_behind_keeps_its_service(cassini, launcher):
    pingpong = f"{cassini.bin}/ibv_ru_pingpong -d cxi0 -p {free_port()}"
    script = f"""
        {launcher} --vni 1024-1031 -- sh -c '{pingpong} >"$TMPDIR/server" & echo $! >"$TMPDIR/pid"
          until grep -q "local address" "$TMPDIR/server"; do sleep 0.01; done'
        echo status $?
        kill "$(cat "$TMPDIR/pid")"; rm "$TMPDIR/pid" "$TMPDIR/server"
        until {launcher} --vni 1024-1031 -- echo granted; do sleep 0.05; done 2>/dev/null
    """
    result = succeeded(cassini.run("sh", "-c", script))
    assert result.stdout.splitlines() == ["status 0", "granted"]
    assert "left behind still uses its service" in result.stderr


def test_no_descriptor_is_inherited_but_those_that_are_kept(cassini, launcher):
    script = 'exec 5</etc/passwd 6</etc/passwd; "$@"'
    program = ("sh", "-c", "ls /proc/$$/fd; :")
    for keep, there in ((), "0 1 2"), (("--keep-fd", 6), "0 1 2 6"):
        result = cassini.run("bash", "-c", script, "-", launcher, "--vni", 5, *keep, "--", *program)
        assert succeeded(result).stdout.split() == there.split()
    refused(cassini.run(launcher, "--vni", 5, "--keep-fd", 77, "--", "true"), "--keep-fd: 77 is not open")


def test_closed_standard_descriptors_stay_away_from_the_device(cassini, launcher):
    script = '"$@" <&- 2>&-'
    program = ("sh", "-c", "readlink /proc/$$/fd/0 /proc/$$/fd/2")
    result = cassini.run("bash", "-c", script, "-", launcher, "--vni", 5, "--", *program)
    assert succeeded(result).stdout.split() == ["/dev/null", "/dev/null"]


def test_without_privileges_nothing_is_granted(launch, launcher):
    refused(
        launch("--vni", "5", script=f"{launcher} --vni 6 -- true"),  # root, but without capabilities
        "cxi0: granting needs CAP_SYS_ADMIN: run cxi_launcher as root",
    )


def test_devices_that_are_not_there_are_explained(cassini, launch, launcher):
    refused(launch("--device", "cxi7", "--vni", "5"), '"cxi7"', "there are cxi0, cxi1")
    refused(launch("--device", "cxi0,cxi0", "--vni", "5"), "cxi0 is named twice")
    refused(cassini.plain(launcher, "--vni", 5, "--", "true"), "no Cassini NIC")


@pytest.mark.parametrize("program", ["ibv_ru_pingpong", "ibv_ru_rma"])
def test_the_examples_get_their_grant_from_it(cassini, program):
    off = ("--default-service", "off")
    result = succeeded(cassini.pair(program, ["-d", "cxi0", "-n", 5], ["-d", "cxi1", "-n", 5], options=off))
    assert result.stdout.count("remote address") == 2


def test_the_slurm_scripts_of_the_manual_work(cassini, launcher):
    user = cassini.user(NOBODY)
    page = (SOURCE / "providers/cxi/man/cxi_launcher.1.md").read_text()
    scripts = re.findall(r"```sh\n(#!/bin/sh\n# (prolog|task prolog|epilog):.*?)```", page, re.DOTALL)
    assert [name for _, name in scripts] == ["prolog", "task prolog", "epilog"]
    folder = cassini.tmp / "slurm"
    folder.mkdir()
    for text, name in scripts:
        path = folder / name.replace(" ", "-")
        path.write_text(text)
        path.chmod(0o755)
    job = f"""
        prolog || exit 1
        task-prolog >{folder}/variables && . {folder}/variables
        setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups {cassini.bin}/cxidv_put_get cxi0 cxi1; status=$?
        env | grep ^SLINGSHOT_
        epilog
        ls {folder}/jobs
        exit $status
    """
    env = {
        "PATH": f"{folder}:{cassini.bin}:/usr/bin:/bin",
        "CXI_JOBS": f"{folder}/jobs",
        "SLURM_JOB_ID": "60007",
        "SLURM_JOB_UID": str(user),
    }
    result = cassini.run("sh", "-c", job, options=("--default-service", "off"), env=env)
    shutil.rmtree(folder)
    assert told(result)["SLINGSHOT_VNIS"] == "1031"
    assert result.stdout.splitlines()[-1].startswith("SLINGSHOT_")  # and no file is left
