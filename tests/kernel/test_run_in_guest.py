# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What surrounds the guest: modules in order, the archive, the judgement on what was printed."""

import gzip
import lzma
import subprocess

import guest_kernel
import initramfs
import pytest
import run_in_guest


@pytest.fixture(name="root")
def kernel_root(tmp_path):
    """A kernel package with three modules and one that is built in."""
    (tmp_path / "boot").mkdir()
    (tmp_path / "boot/vmlinuz-9.9").write_bytes(b"kernel")
    modules = tmp_path / "lib/modules/9.9"
    modules.mkdir(parents=True)
    (modules / "modules.dep").write_text(
        "a/base.ko:\nb/mid-dle.ko.xz: a/base.ko\ntop.ko: b/mid-dle.ko.xz a/base.ko\n"
    )
    (modules / "modules.builtin").write_text("kernel/veth.ko\n")
    (modules / "b").mkdir()
    (modules / "b/mid-dle.ko.xz").write_bytes(lzma.compress(b"middle"))
    return tmp_path


def test_modules_load_after_those_that_they_need(root):
    kernel = guest_kernel.find(root)
    assert kernel.load_order(["top", "veth"]) == ["a/base.ko", "b/mid-dle.ko.xz", "top.ko"]
    assert kernel.load_order(["mid_dle"], ["no_such"]) == ["a/base.ko", "b/mid-dle.ko.xz"]


def test_a_missing_module_is_told(root):
    with pytest.raises(guest_kernel.NotInstalled, match="no_such"):
        guest_kernel.find(root).load_order(["no_such"])


def test_no_kernel_is_told(tmp_path):
    with pytest.raises(guest_kernel.NotInstalled):
        guest_kernel.find(tmp_path)


def test_modules_are_decompressed(root):
    assert guest_kernel.find(root).read("b/mid-dle.ko.xz") == b"middle"


def test_archive_has_the_folders_of_its_files():
    fs = initramfs.Initramfs()
    fs.data("/a/b/file", "text")
    assert list(fs.entries) == ["a", "a/b", "a/b/file"]
    raw = gzip.decompress(fs.archive())
    assert raw.count(b"070701") == 4 and b"a/b/file\0" in raw and len(raw) % 4 == 0


def test_archive_unpacks(tmp_path):
    fs = initramfs.Initramfs()
    fs.data("/a/file", "text", 0o755)
    fs.link("/a/link", "file")
    try:
        raw = gzip.decompress(fs.archive())
        subprocess.run(["cpio", "-id", "--quiet"], input=raw, cwd=tmp_path, check=True)
    except FileNotFoundError:
        pytest.skip("install cpio")
    assert (tmp_path / "a/link").read_text() == "text"
    assert (tmp_path / "a/file").stat().st_mode & 0o777 == 0o755


GOOD = """@@ set-up
@@ exit 0
@@ sysfs
node_guid:0001:0002:0003:0004
sys_image_guid:0001:0002:0003:0004
state:4: ACTIVE
phys_state:5: LinkUp
lid:0x0
sm_lid:0x0
link_layer:Ethernet
gids:1024
pkeys:1
@@ exit 0
@@ ibv_devices
    device                 node GUID
    ------              ----------------
    rxe0                0001000200030004
@@ exit 0
@@ ibv_devinfo
hca_id: rxe0
    transport:    InfiniBand (0)
    node_guid:    0001:0002:0003:0004
    sys_image_guid:    0001:0002:0003:0004
    phys_port_cnt:    1
        port: 1
            state:   PORT_ACTIVE (4)
            phys_state:   LINK_UP (5)
            port_lid:   0
            sm_lid:   0
            link_layer:   Ethernet
            gid_tbl_len:   1024
            pkey_tbl_len:   1
            active_mtu:   1024 (3)
@@ exit 0
@@ ibv_devinfo-unknown
@@ exit 1
@@ verbs
GROUP one
PASS this
DONE 1 0
@@ exit 0
@@ end
"""


def test_a_good_run_has_no_faults():
    assert run_in_guest.judge(GOOD, "") == []


@pytest.mark.parametrize(
    "old, new",
    [
        ("PASS this", "FAIL this"),
        ("PASS this\n", ""),
        ("DONE 1 0\n@@ exit 0\n", ""),
        ("DONE 1 0\n@@ exit 0", "DONE 1 0\n@@ exit 1"),
        ("@@ end\n", ""),
        ("0001000200030004", "0001000200030005"),
        ("PORT_ACTIVE (4)", "PORT_DOWN (1)"),
        ("gid_tbl_len:   1024", "gid_tbl_len:   16"),
        ("node_guid:0001:0002:0003:0004\nsys", "sys"),
        ("@@ ibv_devinfo-unknown\n@@ exit 1", "@@ ibv_devinfo-unknown\n@@ exit 0"),
        ("@@ verbs\n", "@@ other\n"),
    ],
)
def test_what_is_wrong_is_seen(old, new):
    assert old in GOOD
    assert run_in_guest.judge(GOOD.replace(old, new), "")


def test_trouble_with_the_guest_is_a_fault():
    assert run_in_guest.judge(GOOD, "the guest was still busy") == ["the guest was still busy"]
