# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Writes the file system that a guest starts with, in the cpio format that Linux unpacks."""

import gzip
import os
import re
import stat
import subprocess

HEADER_FIELDS = 13


def shared_libraries(program):
    """Files that the loader maps for a program or library, itself among them."""
    answer = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return re.findall(r"(/\S+) \(0x", answer)


class Initramfs:
    """Collects files under the paths that they have in the guest."""

    def __init__(self):
        self.entries = {}  # path without leading slash -> (mode, content)

    def folder(self, path):
        """A folder and those above it."""
        parts = str(path).strip("/").split("/")
        for end in range(1, len(parts) + 1):
            self.entries.setdefault("/".join(parts[:end]), (stat.S_IFDIR | 0o755, b""))

    def data(self, path, content, mode=0o644):
        """A file with this content."""
        path = str(path)
        self.folder(os.path.dirname(path) or "/")
        content = content if isinstance(content, bytes) else content.encode()
        self.entries[path.strip("/")] = (stat.S_IFREG | mode, content)

    def link(self, path, target):
        """A symbolic link."""
        self.folder(os.path.dirname(str(path)))
        self.entries[str(path).strip("/")] = (stat.S_IFLNK | 0o777, str(target).encode())

    def program(self, source, path=None):
        """A program or library with the libraries that it needs, at their places."""
        for file in [source, *shared_libraries(source)]:
            where = path if path and file == source else file
            with open(file, "rb") as stream:
                self.data(where, stream.read(), 0o755)

    def archive(self):
        """The whole, compressed."""
        pieces = []
        entries = [*self.entries.items(), ("TRAILER!!!", (0, b""))]
        for number, (path, (mode, content)) in enumerate(entries):
            name = path.encode() + b"\0"
            links = 2 if stat.S_ISDIR(mode) else 1
            fields = [number, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(name), 0]
            assert len(fields) == HEADER_FIELDS
            head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
            pieces += [head, bytes(-len(head) % 4), content, bytes(-len(content) % 4)]
        return gzip.compress(b"".join(pieces), compresslevel=1)
