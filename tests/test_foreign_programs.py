# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unmodified programs of the distribution, run with this project's libibverbs on the software Cassini."""

import importlib.util
import pathlib

import pytest
from conftest import BUILD, succeeded

NOBODY = 65534
OUR_LIBRARY = {"LD_LIBRARY_PATH": str(BUILD / "lib")}
PYTHON = "/usr/bin/python3"
USERS = {"caller": None, "user": NOBODY}


@pytest.fixture(params=USERS)
def user(request, cassini):
    number = USERS[request.param]
    return number if number is None else cassini.user(number)


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


def test_debians_ibv_rc_pingpong_is_told_what_cassini_has_not(cassini, installed):
    result = cassini.run(installed("ibv_rc_pingpong"), "-d", "cxi0", env=OUR_LIBRARY)
    assert result.returncode == 1
    assert result.stderr == "Couldn't create QP\n"


def pyverbs(cassini, script, **how):
    """Runs a script with the distribution's pyverbs; prints what it prints."""
    if importlib.util.find_spec("pyverbs") is None:
        pytest.skip("python3-pyverbs is not installed")
    return succeeded(cassini.run(PYTHON, "-c", script, env=OUR_LIBRARY, **how)).stdout


def test_pyverbs_lists_and_queries_devices(cassini):
    output = pyverbs(
        cassini,
        """
from pyverbs import device, enums
print([d.name.decode() for d in device.get_device_list()])
with device.Context(name="cxi1") as context:
    print(context.query_device().phys_port_cnt)
    port = context.query_port(1)
    print(port.state == enums.IBV_PORT_ACTIVE, port.link_layer == enums.IBV_LINK_LAYER_ETHERNET)
    print(context.query_gid(1, 0), context.query_gid_type(1, 0))
    print(len(context.query_gid_table(16)) >= 1, hex(context.query_pkey(1, 0)))
    print(context.query_device_ex().orig_attr.max_qp == context.query_device().max_qp)
""",
    )
    assert output.splitlines() == [
        "['cxi0', 'cxi1']",
        "1",
        "True True",
        "fe80:0000:0000:0000:0000:0000:0000:0002 5",
        "True 0xffff",
        "True",
    ]


def test_pyverbs_makes_and_closes_objects(cassini, user):
    output = pyverbs(
        cassini,
        """
from pyverbs import enums
from pyverbs.cq import CQ, CQEX, CompChannel, CqInitAttrEx
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
context = Context(name="cxi0")
pd = PD(context)
mr = MR(pd, 8192, enums.IBV_ACCESS_LOCAL_WRITE | enums.IBV_ACCESS_REMOTE_WRITE)
mr.write("cassini", 7)
print(mr.read(7, 0), mr.lkey != 0, mr.rkey != 0)
channel = CompChannel(context)
cq = CQ(context, 64, None, channel, 0)
cq.req_notify()
print(cq.poll())
cq_ex = CQEX(context, CqInitAttrEx(cqe=32))
# Children first where told to, and all that is left with the context.
cq_ex.close(); mr.close(); context.close()
print("closed")
""",
        user=user,
    )
    assert output.splitlines() == ["b'cassini' True True", "(0, [])", "closed"]


def test_pyverbs_hears_which_services_cassini_has_not(cassini):
    output = pyverbs(
        cassini,
        """
from pyverbs import enums
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPCap, QPInitAttr
context = Context(name="cxi0")
pd, cq = PD(context), CQ(context, 4)
for service in (enums.IBV_QPT_RC, enums.IBV_QPT_UC, enums.IBV_QPT_UD, enums.IBV_QPT_RAW_PACKET):
    try:
        QP(pd, QPInitAttr(qp_type=service, scq=cq, rcq=cq, cap=QPCap(1, 1, 1, 1, 0)))
    except PyverbsRDMAError as error:
        print(error.error_code)
""",
    )
    assert output.split() == ["95"] * 4


def test_ucx_finds_the_nics_and_no_transport_on_them(cassini, installed):
    output = succeeded(cassini.run(installed("ucx_info"), "-d", env=OUR_LIBRARY)).stdout
    domains = {text.split()[0]: text for text in output.split("# Memory domain: ")[1:]}
    for nic in ("cxi0", "cxi1"):
        assert "Component: ib" in domains[nic]
        assert "no supported devices found" in domains[nic]


def test_perftest_starts(cassini, installed):
    result = cassini.run(installed("ib_write_bw"), "--help", env=OUR_LIBRARY)
    # The same exit status as everywhere: 1.
    assert "Usage:" in result.stdout and "--ib-dev" in result.stdout, result.stderr


def test_libfabric_starts_and_finds_the_providers_that_it_has_elsewhere(cassini, installed):
    here = succeeded(cassini.run(installed("fi_info"), "--list", env=OUR_LIBRARY)).stdout
    elsewhere = succeeded(cassini.plain(installed("fi_info"), "--list")).stdout
    assert here == elsewhere
    succeeded(cassini.run(installed("fi_info"), env=OUR_LIBRARY))


# Loads a library with every name bound at once, and says whether it brought another libibverbs.
LOAD = """
import ctypes
import sys
ctypes.CDLL(sys.argv[1])
paths = {line.split()[-1] for line in open("/proc/self/maps") if "libibverbs.so" in line}
print(*paths)
"""

PROVIDERS_WITH_CALLS = ("libefa.so.1", "libmana.so.1", "libmlx4.so.1", "libmlx5.so.1")
LIBRARIES = sorted(
    path
    for folder in pathlib.Path("/usr/lib").glob("*-linux-gnu")
    for pattern in (*PROVIDERS_WITH_CALLS, "libibverbs/lib*-rdmav34.so")
    for path in folder.glob(pattern)
)


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.name)
def test_providers_of_the_distribution_load(cassini, library):
    result = succeeded(
        cassini.plain(PYTHON, "-c", LOAD, library, env={**OUR_LIBRARY, "LD_BIND_NOW": "1"})
    )
    (loaded,) = result.stdout.split()
    assert pathlib.Path(loaded).resolve() == (BUILD / "lib" / "libibverbs.so.1").resolve()


# Vendors' own calls, asked about a device of somebody else.
VENDOR = """
import ctypes
verbs = ctypes.CDLL("libibverbs.so.1")
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
verbs.ibv_open_device.restype = ctypes.c_void_p
device = verbs.ibv_get_device_list(None)[0]
context = verbs.ibv_open_device(ctypes.c_void_p(device))
attr = ctypes.create_string_buffer(4096)
mlx5, efa = ctypes.CDLL("libmlx5.so.1"), ctypes.CDLL("libefa.so.1")
mlx5.mlx5dv_is_supported.restype = ctypes.c_bool
print(mlx5.mlx5dv_is_supported(ctypes.c_void_p(device)))
print(mlx5.mlx5dv_query_device(ctypes.c_void_p(context), attr))
print(efa.efadv_query_device(ctypes.c_void_p(context), attr, 64))
"""


def test_mlx5_and_efa_recognize_that_cassini_is_not_theirs(cassini):
    names = {path.name for path in LIBRARIES}
    if not {"libmlx5.so.1", "libefa.so.1"} <= names:
        pytest.skip("libmlx5 and libefa are not installed")
    output = succeeded(cassini.run(PYTHON, "-c", VENDOR, env=OUR_LIBRARY)).stdout
    assert output.split() == ["False", "95", "95"]
