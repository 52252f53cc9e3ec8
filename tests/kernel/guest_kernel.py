# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The installed kernel that a guest can boot, and its modules in the order in which they load."""

import dataclasses
import gzip
import lzma
import os
import pathlib
import subprocess

DECOMPRESS = {
    ".ko": lambda data: data,
    ".gz": gzip.decompress,
    ".xz": lzma.decompress,
    ".zst": lambda data: subprocess.run(
        ["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True
    ).stdout,
}


class NotInstalled(Exception):
    """No kernel, or one that lacks a module."""


def module_name(path):
    """The name of a module from its file: foo-bar.ko.xz is foo_bar."""
    return pathlib.PurePath(path).name.split(".ko")[0].replace("-", "_")


@dataclasses.dataclass
class GuestKernel:
    """An image and the folder of its modules."""

    image: pathlib.Path
    modules: pathlib.Path

    def __post_init__(self):
        self.needs = {}  # module file -> files that it needs, in the order in which they load
        for line in (self.modules / "modules.dep").read_text().splitlines():
            file, _, needs = line.partition(":")
            self.needs[file] = needs.split()[::-1]
        self.files = {module_name(file): file for file in self.needs}
        builtin = (self.modules / "modules.builtin").read_text().splitlines()
        self.builtin = {module_name(file) for file in builtin}

    def load_order(self, required, optional=()):
        """Files of the named modules and all that they need. Those in the image need no file."""
        order = []
        for name in [*optional, *required]:
            if name in self.builtin:
                continue
            if name not in self.files:
                if name in optional:
                    continue
                raise NotInstalled(f"{self.image} has no module {name}")
            file = self.files[name]
            for needed in [*self.needs[file], file]:
                if needed not in order:
                    order.append(needed)
        return order

    def read(self, file):
        """The module itself, whatever it was compressed with."""
        path = self.modules / file
        return DECOMPRESS[path.suffix](path.read_bytes())


def find(root="/"):
    """The newest kernel below root that is readable and has its modules."""
    root = pathlib.Path(root)
    found = []
    for modules in (root / "lib/modules").glob("*"):
        image = root / "boot" / f"vmlinuz-{modules.name}"
        if os.access(image, os.R_OK) and (modules / "modules.dep").exists():
            found.append((image.stat().st_mtime, image, modules))
    if not found:
        raise NotInstalled(f"no kernel with modules below {root}")
    _, image, modules = max(found)
    return GuestKernel(image, modules)
