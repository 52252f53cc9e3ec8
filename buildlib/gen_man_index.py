# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Fills the index of calls into a manual page.

A line `@INDEX subject@` of the template becomes the list of the pages whose YAML header names that
subject, each with all its names. A page without a place, and a place without pages, are errors.
"""
import argparse
import pathlib
import re
import sys

from man_page import Page

PLACE = re.compile(r"^@INDEX (.+)@$", re.M)


def entry(page):
    names = ", ".join(f"**{name}**({page.section})" for name in page.names)
    return f"{names}\n: {page.summary}\n"


def fill(template, pages):
    """Returns the template with every index filled in."""
    subjects = {}
    for page in sorted(pages, key=lambda page: page.name):
        subjects.setdefault(page.subject, []).append(page)
    places = PLACE.findall(template)
    for page in pages:
        if page.section == "3" and page.subject not in places:
            raise ValueError(f"{page.path.name}: the index has no subject {page.subject!r}")
    for place in places:
        if place not in subjects:
            raise ValueError(f"no page has the subject {place!r}")
    return PLACE.sub(lambda place: "\n".join(map(entry, subjects[place[1]])), template)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("template", type=pathlib.Path)
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    try:
        text = fill(arguments.template.read_text(), [Page(path) for path in arguments.pages])
    except ValueError as error:
        sys.exit(f"{arguments.template.name}: {error}")
    arguments.output.write_text(text)


if __name__ == "__main__":
    main()
