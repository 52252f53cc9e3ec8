# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Runs programs on the software Cassini, and sees to it that nothing is left behind."""

import os
import pathlib
import shlex
import shutil
import socket
import subprocess

import pytest

BUILD = pathlib.Path(
    os.environ.get("CXV_BUILD_DIR", pathlib.Path(__file__).resolve().parent.parent / "build")
)

# With this the programs explain a missing grant instead of asking a launcher for it.
NO_LAUNCHER = {"CXI_LAUNCHED_BY_EXAMPLE": "1"}

# Two programs that meet over TCP in one software Cassini: the server in the background, the client until it
# gets through. Where the server says that it has made its queue pair, the client makes its own afterwards: who
# is first gets the lowest number. What both say is on standard output, the server first.
PAIR = r"""
server=$1 client=$2 made=$3
eval "$server" >"$TMPDIR/server" 2>&1 & pid=$!
until grep -q "$made" "$TMPDIR/server" || [ -z "$made" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
while :; do
  output=$(eval "$client" 2>&1); status=$?
  case $output in
    *"no connection"* | *"Connection refused"*) kill -0 $pid 2>/dev/null || break; sleep 0.05 ;;
    *) break ;;
  esac
done
wait $pid; server_status=$?
cat "$TMPDIR/server"; rm "$TMPDIR/server"
echo "$output"
[ $status = 0 ] && exit $server_status
exit $status
"""


TAKEN = []


def free_port():
    """A port that nobody else gets as long as this process lives, and that a server can listen at."""
    holder = socket.socket()
    holder.bind(("", 0))
    # Only afterwards: the kernel gives no port to others whose holder would not have shared it then.
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    TAKEN.append(holder)
    return holder.getsockname()[1]


def as_user(number):
    """How a command begins that this user runs; the caller does where there is no number."""
    if number is None:
        return []
    return ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups"]


class Cassini:
    """A software Cassini per run: `run(program...)` brings it up, runs the program, takes it down."""

    def __init__(self, tmp_path):
        self.bin = BUILD / "bin"
        self.programs = BUILD / "tests"
        self.tmp = tmp_path / "tmp"
        self.tmp.mkdir()
        # An unprivileged user of a test has to reach it too.
        for folder in [self.tmp, *list(self.tmp.parents)[:3]]:
            folder.chmod(folder.stat().st_mode | 0o055)
        self.tmp.chmod(0o1777)

    def environment(self, **extra):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("SLINGSHOT_", "IBV_", "RDMAV_"))}
        return {**env, "TMPDIR": str(self.tmp), **extra}

    def command(self, *program, nics=2, options=(), user=None):
        return [
            *as_user(user),
            str(self.bin / "cxi_sim"),
            "run",
            "--nics",
            str(nics),
            *map(str, options),
            "--",
            *map(str, program),
        ]

    def run(self, *program, nics=2, options=(), user=None, timeout=60, env=None):
        return subprocess.run(
            self.command(*program, nics=nics, options=options, user=user),
            capture_output=True,
            text=True,
            timeout=timeout,
            env=self.environment(**(env or {})),
            check=False,
        )

    def pair(self, program, server, client, host="localhost", users=(None, None), **how):
        """Runs the program of that name twice, with these options: as server, and as its client."""
        command = [self.bin / program, "-p", free_port()]
        words = (
            [*as_user(users[0]), *command, *server],
            [*as_user(users[1]), *command, *client, host],
        )
        made = "local address" if "ibv_ru_" in str(program) else ""
        lines = (shlex.join(map(str, each)) for each in words)
        return self.run("bash", "-c", PAIR, "pair", *lines, made, **how)

    def user(self, number):
        """The number of a user who can run what was built; skips where there can be none."""
        if os.geteuid() != 0:
            pytest.skip("changing the user needs root")
        if subprocess.run([*as_user(number), "test", "-x", self.bin / "cxi_sim"], check=False).returncode:
            pytest.skip("the build folder is closed to other users")
        return number

    def plain(self, *program, timeout=60, env=None):
        """The same program without any software Cassini."""
        return subprocess.run(
            list(map(str, program)),
            capture_output=True,
            text=True,
            timeout=timeout,
            env=self.environment(**(env or {})),
            check=False,
        )

    def leftovers(self):
        files = [str(path) for path in self.tmp.iterdir()]
        marker = f"TMPDIR={self.tmp}".encode()
        processes = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                if marker in (entry / "environ").read_bytes().split(b"\0"):
                    processes.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                pass
        return files + processes


@pytest.fixture
def cassini(tmp_path):
    simulator = Cassini(tmp_path)
    yield simulator
    assert simulator.leftovers() == []


@pytest.fixture
def installed():
    """Names programs of the distribution; skips where one is not installed."""

    def find(name):
        for folder in ("/usr/bin", "/usr/sbin", "/bin"):
            path = shutil.which(name, path=folder)
            if path:
                return path
        pytest.skip(f"{name} is not installed")

    return find


def succeeded(result):
    assert result.returncode == 0, result.stdout + result.stderr
    return result
