#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Every file that a document names is in the tree. usage: document_paths.py SOURCE_DIR

Two things are checked in each Markdown file: links, whose heading must be there too, and words with a slash that begin
with a folder of the tree or end like a source file. In sources, each word that ends in .md is checked.

A path may be written from the top of the tree, from the document's own folder, from include/ or from include/uscope/.
`trace/raw_writer` means trace/raw_writer.h or .cpp, `a/b.{h,cpp}` both, `a/*.def` at least one, and a part in capitals
(tests/unit/FOLDER) any name. What begins with /, ~, $ or a dot is of the reader's machine, and is not looked at.
"""
import glob
import os
import re
import sys

# Made by a build or by a user: never in the tree, or not always.
MADE = {
    "build/": "what CMake makes",
    "kmod/uscope.ko": "the module, once it has been compiled",
}
LEFT_OUT = {
    "CHANGELOG.md": "about the past: a file has the name that it had then",
    "tests/layout/document_paths_test.py": "its files are examples",
}

SOURCE_SUFFIXES = (".h", ".c", ".cpp", ".def", ".py", ".sh", ".md", ".txt", ".stp", ".cmake")
WORD = re.compile(r"(?<![\w./~$:*<>=-])[\w.-]+(?:/[\w.*{},-]+)+/?")
MARKDOWN_NAME = re.compile(r"(?<![\w.~$:*<>-])\w[\w./-]*\.md\b")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def texts(source):
    """(path, text) of every document and source."""
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(f for f in folders if f not in ("build", "corpus", "__pycache__", "node_modules", "dist") and not f.startswith("."))
        for name in sorted(names):
            if name.endswith(SOURCE_SUFFIXES):
                path = os.path.relpath(os.path.join(folder, name), source)
                with open(os.path.join(source, path), encoding="utf-8") as file:
                    yield path, file.read()


def alternatives(path):
    """`a/b.{h,cpp}` as [a/b.h, a/b.cpp]."""
    braces = re.fullmatch(r"(.*)\{([^}]*)\}(.*)", path)
    return [braces[1] + middle + braces[3] for middle in braces[2].split(",")] if braces else [path]


def is_there(source, document, path):
    pattern = "/".join("*" if re.fullmatch(r"[A-Z_]+", part) else part for part in path.rstrip("/").split("/"))
    for start in ("", os.path.dirname(document), "include", "include/uscope") + (() if "/" in path else ("docs",)):
        for end in ("", ".h", ".cpp", ".c", ".py"):
            if glob.glob(os.path.join(source, start, pattern + end)):
                return True
    return False


def allowed(path):
    return any(path == made or path.startswith(made) and made.endswith("/") for made in MADE)


def words_of(text, tops):
    """The words of a document that are paths of the tree."""
    for found in WORD.finditer(text):
        word = found.group().rstrip(".,-")
        first = word.split("/")[0]
        if first in tops or first == "build" or (word.endswith(SOURCE_SUFFIXES) and not first.startswith(".")):
            yield word


def heading_of(line):
    """The name by which a link finds a heading."""
    return re.sub(r"[^\w -]", "", line.lstrip("#").strip().lower()).replace(" ", "-")


def faults_of_link(source, document, target):
    name, _, anchor = target.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(document), name)) if name else document
    if not os.path.exists(os.path.join(source, path)):
        return [f"{document}: a link to {target}, which is not there"] if not allowed(path) else []
    if anchor and path.endswith(".md"):
        with open(os.path.join(source, path), encoding="utf-8") as file:
            if anchor not in [heading_of(line) for line in file if line.startswith("#")]:
                return [f"{document}: a link to {target}: no such heading"]
    return []


def faults_of(source):
    tops = {name for name in os.listdir(source) if os.path.isdir(os.path.join(source, name)) and not name.startswith(".")}
    faults, checked = [], 0
    for path, text in texts(source):
        if path in LEFT_OUT:
            continue
        if path.endswith(".md"):
            for target in LINK.findall(text):
                # docs/systemtap.md shows stacks, in which a kernel function stands as [kernel](vfs_write+0x5).
                if "://" not in target and "+0x" not in target:
                    checked += 1
                    faults += faults_of_link(source, path, target)
            names = list(words_of(LINK.sub("]", text), tops))
        else:
            names = MARKDOWN_NAME.findall(text)
        for name in names:
            for one in alternatives(name):
                checked += 1
                if not is_there(source, path, one) and not allowed(one):
                    faults.append(f"{path}: names {one}, which is not there")
    return sorted(set(faults)), checked


def main():
    faults, checked = faults_of(sys.argv[1])
    if checked < 100:
        faults.append("hardly a path was found")
    print("\n".join([*faults, f"{checked} paths and links, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
