#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Boots an installed Linux kernel under QEMU and runs libibverbs on its soft RoCE device.

Exit status 0: all is well; 1: a check failed; 77: this machine lacks something, and the last line
says what. CXV_GUEST_ROOT names a folder with an unpacked kernel package in place of /.
"""

import argparse
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import guest_kernel
import initramfs

SKIP = 77
TIMEOUT_S = 540
MODULES = ["ib_uverbs", "rdma_rxe", "veth"]
OPTIONAL_MODULES = ["crc32_generic"]  # newer kernels have it built into rdma_rxe's helpers
PACKAGES = {
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "rdma": "iproute2",
    "ip": "iproute2",
}
HERE = pathlib.Path(__file__).resolve().parent
PR_SET_PDEATHSIG = 1


class Skip(Exception):
    """Something that this machine does not have."""


def find_tools():
    """Paths of the programs that are needed."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    tools = {name: shutil.which(name, path=path) for name in PACKAGES}
    missing = sorted({PACKAGES[name] for name, file in tools.items() if not file})
    if missing:
        raise Skip(f"install {' '.join(missing)}")
    if initramfs.shared_libraries(tools["busybox"]):
        raise Skip("install busybox-static: this busybox needs shared libraries")
    return tools


def find_kernel():
    """The kernel to boot."""
    if os.uname().machine != "x86_64":
        raise Skip(f"guests are x86_64, this machine is {os.uname().machine}")
    try:
        return guest_kernel.find(os.environ.get("CXV_GUEST_ROOT", "/"))
    except guest_kernel.NotInstalled as error:
        raise Skip(f"install linux-image-amd64: {error}") from error


def build_initramfs(args, tools, kernel):
    """The guest's file system: busybox, our programs with their libraries, modules."""
    fs = initramfs.Initramfs()
    fs.program(tools["busybox"], "/bin/busybox")
    fs.program(tools["rdma"], "/usr/sbin/rdma")
    fs.program(tools["ip"], "/usr/sbin/ip")
    for program in args.programs:
        fs.program(program, f"/usr/bin/{pathlib.Path(program).name}")
    fs.program(args.provider)
    provider = args.provider.removesuffix(f"-rdmav{args.pabi}.so")
    fs.data(f"{args.config_dir}/guest.driver", f"driver {provider}\n")
    fs.data("/settings", f"PROVIDER={provider}\n")
    for folder in ["/dev", "/proc", "/sys", "/tmp"]:
        fs.folder(folder)
    try:
        order = kernel.load_order(MODULES, OPTIONAL_MODULES)
    except guest_kernel.NotInstalled as error:
        raise Skip(f"install linux-image-amd64: {error}") from error
    files = []
    for file in order:
        path = f"/lib/modules/{guest_kernel.module_name(file)}.ko"
        fs.data(path, kernel.read(file))
        files.append(path)
    fs.data("/modules", "".join(f"{file}\n" for file in files))
    fs.data("/init", (HERE / "guest_init.sh").read_text(), 0o755)
    return fs.archive()


def memory_file(name, content=b""):
    """A file that nobody has to remove."""
    # pylint: disable-next=consider-using-with  # the caller has use for it as long as QEMU runs
    stream = open(os.memfd_create(name), "r+b", buffering=0)
    stream.write(content)
    return stream


def path_of(stream):
    """The name of a memory file in a process that has inherited it."""
    return f"/proc/self/fd/{stream.fileno()}"


def end_with_parent():
    """In a child: it does not outlive who started it, however that ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def boot(tools, kernel, archive):
    """Runs the guest until it switches itself off; returns what it printed, and the console."""
    files = [memory_file("initrd", archive), memory_file("printed"), memory_file("console")]
    initrd, printed, console = files
    command = [tools["qemu-system-x86_64"], "-nodefaults", "-no-user-config", "-display", "none"]
    command += ["-no-reboot", "-m", "1024", "-smp", "2", "-cpu", "max"]
    # Not KVM even where it is offered: nested in another guest it fails in more ways than it helps.
    command += ["-accel", "tcg,thread=multi"]
    command += ["-serial", f"file:{path_of(console)}", "-serial", f"file:{path_of(printed)}"]
    command += ["-kernel", kernel.image, "-initrd", path_of(initrd)]
    command += ["-append", "console=ttyS0 panic=-1 quiet mitigations=off"]
    trouble = ""
    try:
        subprocess.run(
            command,
            timeout=TIMEOUT_S,
            check=True,
            stdin=subprocess.DEVNULL,
            pass_fds=[stream.fileno() for stream in files],
            preexec_fn=end_with_parent,  # pylint: disable=subprocess-popen-preexec-fn
        )
    except subprocess.TimeoutExpired:
        trouble = f"the guest was still busy after {TIMEOUT_S} s"
    except subprocess.CalledProcessError as error:
        trouble = f"QEMU ended with {error.returncode}"
    return text_of(printed), text_of(console), trouble


def text_of(stream):
    """What came over a serial line."""
    stream.seek(0)
    return stream.read().decode(errors="replace").replace("\r", "")


def sections(printed):
    """{name: (lines, exit status)}; the status of a section that was cut off is None."""
    found = {}
    pattern = r"^@@ (?!exit|end)(\S+)\n(.*?)(?=^@@ (?!exit)|\Z)"
    for name, body in re.findall(pattern, printed, re.S | re.M):
        status = re.search(r"^@@ exit (\d+)$", body, re.M)
        lines = [line for line in body.splitlines() if not line.startswith("@@ exit")]
        found[name] = (lines, int(status.group(1)) if status else None)
    return found


class Verdict:
    """Collects what is wrong."""

    def __init__(self):
        self.faults = []

    def expect(self, holds, fault):
        """Notes the fault unless all is well."""
        if not holds:
            self.faults.append(fault)


def check_program(verdict, name, section):
    """Every line of verbs_on_kernel, and that it came to its end."""
    lines, status = section
    done = re.fullmatch(r"DONE (\d+) (\d+)", lines[-1] if lines else "")
    own = [line for line in lines if line.startswith(("PASS ", "FAIL "))]
    verdict.faults += [f"{name}: {line}" for line in own if line.startswith("FAIL ")]
    verdict.expect(status == 0, f"{name}: exit status {status}")
    if not done:
        last = lines[-5:]
        verdict.faults.append(f"{name}: did not come to its end; last lines: {last}")
    else:
        # A child of the program prints checks of its own, hence "at least".
        verdict.expect(len(own) >= int(done.group(1)), f"{name}: lines are missing")


def sysfs_values(lines):
    """{file: value}; for tables, their length"""
    values = {}
    for line in lines:
        name, separator, value = line.partition(":")
        if separator:
            values[name] = value
    return values


def check_devices(verdict, section, values):
    """ibv_devices: one line with name and GUID."""
    lines, status = section
    rows = [line.split() for line in lines[2:]]
    guid = values["node_guid"].replace(":", "")
    verdict.expect(status == 0, f"ibv_devices: exit status {status}")
    verdict.expect(rows == [["rxe0", guid]], f"ibv_devices: {rows} is not rxe0 with {guid}")


def check_devinfo(verdict, section, values):
    """ibv_devinfo -v: the values that sysfs has too."""
    lines, status = section
    verdict.expect(status == 0, f"ibv_devinfo: exit status {status}")
    shown = {}
    for line in lines:
        key, separator, value = line.strip().partition(":")
        if separator and not key.startswith("GID["):
            shown.setdefault(key, value.strip())
    state = values["state"].split(": ")[1]
    phys_state = values["phys_state"].split(": ")
    expected = {
        "hca_id": "rxe0",
        "node_guid": values["node_guid"],
        "sys_image_guid": values["sys_image_guid"],
        "phys_port_cnt": "1",
        "transport": "InfiniBand (0)",
        "port": "1",
        "state": f"PORT_{state} ({values['state'].split(':')[0]})",
        "phys_state": f"{camel(phys_state[1])} ({phys_state[0]})",
        "port_lid": str(int(values["lid"], 16)),
        "sm_lid": str(int(values["sm_lid"], 16)),
        "link_layer": values["link_layer"],
        "gid_tbl_len": values["gids"],
        "pkey_tbl_len": values["pkeys"],
        "active_mtu": "1024 (3)",
    }
    for key, value in expected.items():
        fault = f"ibv_devinfo: {key} is {shown.get(key)}, not {value}"
        verdict.expect(shown.get(key) == value, fault)


def camel(text):
    """LinkUp and LINK_UP are the same name."""
    return "_".join(re.findall(r"[A-Z][a-z]*", text)).upper()


def judge(printed, trouble):
    """All faults of a run."""
    verdict = Verdict()
    verdict.expect(not trouble, trouble)
    found = sections(printed)
    missing = [
        name
        for name in ("set-up", "sysfs", "ibv_devices", "ibv_devinfo", "verbs")
        if name not in found
    ]
    verdict.expect(not missing, f"nothing was heard of {missing}")
    verdict.expect("@@ end" in printed.splitlines(), "the guest did not come to its end")
    if missing:
        return verdict.faults
    values = sysfs_values(found["sysfs"][0])
    verdict.expect("node_guid" in values, "the guest has no device rxe0")
    if "node_guid" in values:
        check_devices(verdict, found["ibv_devices"], values)
        check_devinfo(verdict, found["ibv_devinfo"], values)
        status = found["ibv_devinfo-unknown"][1]
        verdict.expect(status not in (0, None), f"ibv_devinfo -d nothing: exit status {status}")
    check_program(verdict, "verbs", found["verbs"])
    return verdict.faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--provider", required=True, help="the provider's library")
    parser.add_argument("--pabi", required=True, help="version of the provider interface")
    parser.add_argument("--config-dir", required=True, help="folder of *.driver files")
    parser.add_argument("programs", nargs="+")
    args = parser.parse_args()
    try:
        tools = find_tools()
        kernel = find_kernel()
        archive = build_initramfs(args, tools, kernel)
    except Skip as skip:
        print(f"SKIPPED: {skip}")
        return SKIP
    printed, console, trouble = boot(tools, kernel, archive)
    print(printed)
    faults = judge(printed, trouble)
    if faults:
        print("--- console of the guest ---", console, "--- what is wrong ---", *faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
