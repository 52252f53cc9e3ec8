# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Options of ibv_ru_pingpong and ibv_ru_rma: each does what the manual says."""

import pathlib
import re

import pytest
from conftest import NO_LAUNCHER, succeeded

MANUALS = pathlib.Path(__file__).resolve().parent.parent / "libibverbs" / "man"
FAILURE = {"ibv_ru_pingpong": 1, "ibv_ru_rma": 255}

every_program = pytest.mark.parametrize("program", FAILURE)


def manual(program):
    return (MANUALS / f"{program}.1.md").read_text()


def options_of_manual(program):
    """The letter, if there is one, for each name of an option; and its default, if the manual names one."""
    letters, defaults = {}, {}
    section = manual(program).split("\n# OPTIONS\n")[1].split("\n# ")[0]
    for entry in re.split(r"\n(?=\*\*-)", section)[1:]:
        head, text = entry.split("\n: ", 1)
        name = re.search(r"\*\*--([\w-]+)\*\*", head)[1]
        letter = re.match(r"\*\*-(\w)\*\*", head)
        letters[name] = letter and letter[1]
        default = re.search(r"Default \*?([\w]+)", text)
        if default:
            defaults[name] = default[1]
    return letters, defaults


def options_of_help(cassini, program):
    letters, defaults = {}, {}
    text = succeeded(cassini.plain(cassini.bin / program, "--help")).stdout
    for entry in re.split(r"\n(?=  (?:-\w, |    )--)", text)[1:]:
        letter, name = re.match(r"  (?:-(\w), )? *--([\w-]+)", entry).groups()
        letters[name] = letter
        default = re.search(r"\((\w+)(?: on Slingshot)?\)$", entry.replace("\n", " ").strip())
        if default:
            defaults[name] = default[1]
    return letters, defaults


@every_program
def test_help_and_manual_name_the_same_options_letters_and_defaults(cassini, program):
    letters, defaults = options_of_manual(program)
    shown_letters, shown_defaults = options_of_help(cassini, program)
    assert shown_letters == letters and len(letters) > 15
    both = defaults.keys() & shown_defaults.keys()
    assert len(both) > 6
    assert {name: shown_defaults[name] for name in both} == {name: defaults[name] for name in both}


@every_program
def test_the_output_is_that_of_the_manual(cassini, program):
    section = manual(program).split("\n# OUTPUT\n")[1].split("\n# ")[0]
    block = [line[4:] for line in section.strip("\n").splitlines() if line.startswith("    ") or not line]
    command, *lines = "\n".join(block).strip().splitlines()
    assert command == f"$ {program} localhost"
    pattern = re.escape("\n".join(lines) + "\n")
    pattern = re.sub(r"0x[0-9a-f]{4,6}", lambda number: f"0x[0-9a-f]{{{len(number[0]) - 2}}}", pattern)
    pattern = re.sub(r"\d+\\\.\d+", r"\\d+\\.\\d\\d", pattern)
    # The server's output comes first.
    assert re.fullmatch(pattern * 2, succeeded(cassini.pair(program, [], [])).stdout)


VALUES = {
    "--port": ["0", "65536", "x", "-1"],
    "--ib-port": ["0", "256", "x"],
    "--size": ["0", "1073741825", "4k", ""],
    "--mtu": ["1000", "128", "8192", "x"],
    "--rx-depth": ["0", "x"],
    "--iters": ["0", "-5", "x"],
    "--gid-idx": ["256", "-1", "x"],
    "--sge": ["0", "9", "x"],
    "--pidonfep": ["4096", "-1", "x"],
    "--ri": ["4096", "x"],
}
VALUES_OF_ONE = {
    "ibv_ru_pingpong": {"--imm": ["16", "0", "x"], "--yield": ["maybe", ""]},
    "ibv_ru_rma": {
        "--test": ["send", ""],
        "--user-rkey": ["x", "0x10000000000000000"],
        "--job-id": ["4294967296", "-1", "x"],
    },
}


def bad_values():
    for program, own in VALUES_OF_ONE.items():
        for option, values in {**VALUES, **own}.items():
            yield from ((program, option, value) for value in values)


def test_a_bad_value_is_explained_in_one_line(cassini):
    for program, option, value in bad_values():
        result = cassini.plain(cassini.bin / program, f"{option}={value}")
        assert result.returncode == FAILURE[program], (program, option, value)
        assert result.stderr.startswith(f"{program}: {option} must be "), result.stderr
        assert len(result.stderr.splitlines()) == 1


@every_program
@pytest.mark.parametrize("options", [["--unknown"], ["-p"], ["host", "another"], ["-n", "1", "host", "-x"]])
def test_a_command_line_that_makes_no_sense_gets_the_usage(cassini, program, options):
    result = cassini.plain(cassini.bin / program, *options)
    assert result.returncode == FAILURE[program]
    assert result.stdout.startswith("Usage:")


@every_program
@pytest.mark.parametrize(
    "options, words",
    [
        ("--ib-dev=cxi7", "there is no device cxi7: choose one of cxi0, cxi1"),
        ("--ib-port=2", "cxi0 has no port 2: use --ib-port 1"),
        ("--gid-idx=2", "invalid gid index 2: port 1 of cxi0 has indices 0 to 1"),
        ("--rx-depth=4097", "cxi0 takes 4096 receives: use a smaller --rx-depth"),
        ("--ri=48", "is that --pidonfep or --ri taken or out of range?"),
        ("--pidonfep=511", "is that --pidonfep or --ri taken or out of range?"),
        ("--size=7 --sge=8", "--size must be at least --sge"),
    ],
)
def test_what_the_device_cannot_do_is_explained_in_one_line(cassini, program, options, words):
    result = cassini.run(cassini.bin / program, *options.split(), env=NO_LAUNCHER)
    assert result.returncode == FAILURE[program]
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


@every_program
def test_a_service_that_does_not_exist_is_explained(cassini, program):
    env = {"SLINGSHOT_SVC_IDS": "999", **NO_LAUNCHER}
    result = cassini.run(cassini.bin / program, env=env)
    assert result.returncode == FAILURE[program]
    assert "SLINGSHOT_SVC_IDS names" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@every_program
def test_the_first_device_is_the_default(cassini, program):
    result = succeeded(cassini.pair(program, [], ["--ib-dev=cxi1"]))
    assert re.findall(r"local address: .*GID (.*)", result.stdout) == ["fe80::1", "fe80::2"]


@every_program
def test_a_port_without_a_listener_is_explained(cassini, program):
    result = cassini.run(cassini.bin / program, "--port=1", "localhost")
    assert result.returncode == FAILURE[program]
    assert "no connection to port 1 of localhost" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@every_program
@pytest.mark.parametrize(
    "options",
    ["--ib-port=1", "--rx-depth=1", "--mtu=256", "--mtu=2048", "--sge=8", "--events", "--iters=1", "--size=8"],
)
def test_values_that_are_possible_work_with_checked_data(cassini, program, options):
    short = [] if options.startswith("--iters") else ["-n", "20"]
    succeeded(cassini.pair(program, ["-c", *short, options], ["-c", "-d", "cxi1", *short, options]))


@every_program
def test_a_gid_index_chooses_the_address(cassini, program):
    options = ["--gid-idx=1", "--iters=5"]
    result = succeeded(cassini.pair(program, options, ["-d", "cxi1", *options]))
    assert re.findall(r"remote address: .*GID (.*)", result.stdout) == [
        "::ffff:10.0.0.2",
        "::ffff:10.0.0.1",
    ]


def numbers(result):
    return re.findall(r"local address: .*QPN 0x([0-9a-f]+)", succeeded(result).stdout)


@every_program
def test_parts_of_the_number_are_asked_for(cassini, program):
    few = ["-n", 5]
    assert numbers(
        cassini.pair(program, ["--pidonfep=17", "--ri=5", *few], ["-d", "cxi1", "--ri=0", *few])
    ) == ["005011", "00000a"]
    assert numbers(cassini.pair(program, ["--pidonfep=0", *few], few)) == ["00f000", "000001"]


def test_auto_qpn_of_pingpong_ignores_the_parts(cassini):
    assert numbers(
        cassini.pair("ibv_ru_pingpong", ["-Q", "--ri=5", "-n", 5], ["-n", 5])
    ) == ["000000", "000001"]


def test_auto_qpn_of_rma_excludes_the_parts(cassini):
    assert numbers(cassini.pair("ibv_ru_rma", ["-Q"], ["-Q"])) == ["000000", "000001"]
    for excluded in ("--absolute", "--pidonfep=1", "--ri=1"):
        result = cassini.plain(cassini.bin / "ibv_ru_rma", "--auto-qpn", excluded)
        assert (result.returncode, len(result.stderr.splitlines())) == (255, 1)
        assert "--auto-qpn lets the device choose" in result.stderr


def test_absolute_has_an_effect_at_the_server_only(cassini):
    assert numbers(cassini.pair("ibv_ru_rma", ["-b", "-j", "10"], ["-b", "-j", "1"])) == [
        "8000f00a",
        "000000",
    ]


@pytest.mark.parametrize(
    "test, title",
    [
        ("rma", "RMA Read/Write Test (32b imm)"),
        ("rma_ex", "RMA Extended Read/Write Test (32b imm)"),
        ("rma_ex64", "RMA Extended Read/Write Test (64b imm)"),
    ],
)
def test_each_test_has_its_title(cassini, test, title):
    result = succeeded(cassini.pair("ibv_ru_rma", ["--test", test], ["--test", test]))
    assert result.stdout.count(f"\n{title}\n{'=' * len(title)}\n") == 2


def test_short_keys_need_the_builders(cassini):
    for option in ("--write32", "--read32"):
        result = cassini.plain(cassini.bin / "ibv_ru_rma", "--test=rma", option)
        assert result.returncode == 255
        assert "need the builders" in result.stderr


def test_a_key_without_a_short_form_is_explained(cassini):
    result = cassini.pair("ibv_ru_rma", ["-u", 1 << 59], ["-W"])
    assert result.returncode == 255
    assert "has no 32-bit form" in result.stdout


def test_a_key_that_is_taken_is_explained(cassini):
    result = cassini.run(cassini.bin / "ibv_ru_rma", "--user-rkey", 1 << 60)
    assert result.returncode == 255
    assert "is the key of --user-rkey taken, or too large for the device?" in result.stderr


@pytest.mark.parametrize("program, sizes", [("ibv_ru_pingpong", (8192, 4096)), ("ibv_ru_rma", (4096, 100))])
def test_sides_of_different_size_fail_and_say_why(cassini, program, sizes):
    result = cassini.pair(program, ["-s", sizes[0], "-c"], ["-s", sizes[1], "-c"])
    assert result.returncode == FAILURE[program]
    assert re.search(rf"^{program}: .*(failed|ended|end)", result.stdout, re.MULTILINE)


def test_immediate_data_of_pingpong_is_compared(cassini):
    result = cassini.pair("ibv_ru_pingpong", ["-I", 64, "-n", 5], ["-n", 5, "-N"])
    assert result.returncode == 1
    assert "bad imm64 0x0 (expected 0xcacadeadbeef)" in result.stdout


@every_program
def test_output_that_cannot_be_written_is_noticed(cassini, program):
    result = cassini.plain("bash", "-c", f"{cassini.bin / program} --help >/dev/full")
    assert result.returncode == FAILURE[program]
    assert "could not be written" in result.stderr


@pytest.mark.parametrize("when", ["on", "off", "auto"])
def test_yielding_changes_nothing_but_time(cassini, when):
    succeeded(cassini.pair("ibv_ru_pingpong", ["--yield", when, "-n", 3], ["--yield", when, "-n", 3]))
