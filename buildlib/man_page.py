# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A manual page in Markdown: its names, its sections, its code."""
import re


class Page:
    def __init__(self, path):
        self.path = path
        self.name, self.section = path.name.split(".")[:2]
        self.text = path.read_text()
        front, self.body = re.fullmatch(r"---\n(.*?)\n---\n(.*)", self.text, re.S).groups()
        self.aliases = re.findall(r"^  - (\w+)$", front, re.M)
        subject = re.search(r"^subject: (.+)$", front, re.M)
        self.subject = subject[1] if subject else None
        self.sections = dict(re.findall(r"^# (.+)\n((?:(?!# ).*\n?)*)", self._without_code(), re.M))

    @property
    def names(self):
        return [self.name, *self.aliases]

    @property
    def summary(self):
        """Returns what the section NAME says behind the names."""
        return re.split(r"\s-\s", self.sections["NAME"], maxsplit=1)[1].strip()

    def code(self, section):
        """Returns the C blocks of a section."""
        body = re.search(rf"^# {section}\n(.*?)(?=^# [A-Z]|\Z)", self.body, re.S | re.M)
        return re.findall(r"^```c\n(.*?)^```$", body[1], re.S | re.M) if body else []

    def prose(self):
        return re.sub(r"`[^`]*`", lambda code: " " + code[0].strip("`") + " ", self._without_code())

    def _without_code(self):
        return re.sub(r"^```c\n.*?^```$", "", self.body, flags=re.S | re.M)
