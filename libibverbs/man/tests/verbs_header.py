# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What the public verbs headers declare: functions with their prototypes, types and constants."""
import pathlib
import re

HEADERS = ("verbs.h", "verbs_types.h", "verbs_api.h")

# The macro of this name calls an inline function; the exported one is for old programs.
PUBLIC_FORM = {"___ibv_query_port": "ibv_query_port"}


def squeeze(text):
    """Returns a prototype with the white space that clang-format might change taken out."""
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"\s*([(),*])\s*", r"\1", text)


class VerbsHeader:
    def __init__(self, include):
        folder = pathlib.Path(include) / "infiniband"
        self.text = "\n".join((folder / name).read_text() for name in HEADERS)
        self.code = re.sub(r"/\*.*?\*/", " ", self.text, flags=re.S)
        flat = re.sub(r"^[ \t]*#(.*\\\n)*.*$", "", self.code, flags=re.M)
        flat = flat.replace('extern "C" {', "")
        self.prototypes = {}
        for name, prototype in self._functions(self._outside_braces(flat)):
            self.prototypes[name] = prototype
        for inline, public in PUBLIC_FORM.items():
            self.prototypes[public] = self.prototypes.pop(inline).replace(inline, public)
        # Names with an underscore in front, and those of the context itself, are plumbing.
        self.functions = {name for name in self.prototypes
                          if not name.startswith("_") and not name.startswith("verbs_")}
        self.names = set(re.findall(r"\w+", self.code))

    @staticmethod
    def _outside_braces(text):
        """Returns the text with each {...} replaced by a semicolon."""
        out, depth = [], 0
        for part in re.split(r"([{}])", text):
            if part == "{":
                depth += 1
            elif part == "}":
                depth = max(depth - 1, 0)  # extern "C" has been cut off in front only
                if depth == 0:
                    out.append(";")
            elif depth == 0:
                out.append(part)
        return "".join(out)

    @staticmethod
    def _functions(text):
        for statement in text.split(";"):
            match = re.fullmatch(r"\s*(?:static inline )?((?:const )?(?:struct |enum )?\w+(?: \w+)?[ *]+)"
                                 r"(\w+)\((.*)\)\s*", statement, re.S)
            if match and "typedef" not in match[1]:
                result, name, arguments = match.groups()
                yield name, re.sub(r"\s+", " ", f"{result}{name}({arguments})").strip() + ";"
