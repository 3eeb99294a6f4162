#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Files of a room are compiled together (USCOPE_UNITY), so a call in one of them could get a function from the anonymous
namespace of another one. Says where a file uses a name that another file of its room has for a function of its own. And two headers that
give one name in one namespace to two types: a program with both is ill-formed, and no compiler says so: own_names.py ROOT"""

import collections
import pathlib
import re
import sys

FOLDERS = ("support", "trace", "syscalls", "symbolizer", "tracer", "descriptors", "store", "query", "analyzer", "live", "exporters", "cli", "tests/unit")
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
# At the beginning of a line, since namespaces do not indent and bodies do: what it gives, its name, and what it takes.
FUNCTION = re.compile(r"^(?!using |struct |class |enum |template |return |namespace )[A-Za-z_][\w:<>,&*\[\] \n]*?[ &*](\w+)\(", re.MULTILINE)
TYPE = re.compile(r"^(?:struct|class|union|enum(?: class| struct)?) (\w+)\b(?!::)[^;{()]*\{", re.MULTILINE)
CALL = re.compile(r"(?<![\w.:>~])(\w+)\(")


def plain(text):
    """The text without comments and without what stands in quotes."""
    return NOISE.sub(lambda found: "\n" * found.group().count("\n") + " ", text)


def own_functions(text):
    """Names of functions in anonymous namespaces, and of static ones."""
    names = set(re.findall(r"^static [\w:<>,&* ]*?[ &*](\w+)\(", text, re.MULTILINE))
    for begin in re.finditer(r"^namespace \{", text, re.MULTILINE):
        names.update(FUNCTION.findall(text, begin.end(), end_of_braces(text, begin.end())))
    return names


def end_of_braces(text, at):
    """Where the braces end that have been opened just before."""
    depth = 1
    for brace in re.finditer(r"[{}]", text[at:]):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return at + brace.start()
    return len(text)


def shared_names(files):
    """[(name, file that has it, file that uses it)], of files that are compiled together: path -> text."""
    texts = {path: plain(text) for path, text in files.items()}
    uses = {path: set(CALL.findall(text)) for path, text in texts.items()}
    return [(name, path, other) for path, text in sorted(texts.items()) for name in sorted(own_functions(text))
            for other in sorted(uses) if other != path and name in uses[other]]


def shared_types(headers):
    """[(name, [headers that define it])], of headers that define types in namespaces: path -> text."""
    owners = collections.defaultdict(list)
    for path, text in sorted(headers.items()):
        text = plain(text)
        namespaces = [(found.start(), found.group(1)) for found in re.finditer(r"^namespace ([\w:]+) \{", text, re.MULTILINE)]
        for found in TYPE.finditer(text):
            around = [name for at, name in namespaces if at < found.start()]
            owners["::".join([*around[-1:], found.group(1)])].append(path)
    return [(name, paths) for name, paths in sorted(owners.items()) if len(paths) > 1]


def main():
    root = pathlib.Path(sys.argv[1])
    rooms = collections.defaultdict(dict)
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.cpp")):
        name = path.relative_to(root)
        room = name.parts[:3] if name.parts[0] == "tests" else name.parent  # of unit tests, a folder's are one
        rooms[room][str(name)] = path.read_text()
    found = [line for files in rooms.values() for line in shared_names(files)]
    for name, owner, user in found:
        print(f"{user}: uses the name {name}, which {owner} has for a function of its own: rename one of them")
    headers = {str(path.relative_to(root)): path.read_text() for folder in FOLDERS for path in (root / folder).rglob("*.h")}
    types = shared_types(headers)
    for name, paths in types:
        print(f"{name} is a type of its own in each of {', '.join(paths)}: rename all but one of them")
    return 1 if found or types else 0


if __name__ == "__main__":
    sys.exit(main())
