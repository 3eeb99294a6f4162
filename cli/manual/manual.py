#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The man pages, made of docs/cli.md and of what the command line is parsed by, and the tables of options in docs/cli.md.

    manual.py pages DECLARATIONS CLI_MD FOLDER DATE    writes uscope.1 and a page for each verb
    manual.py update DECLARATIONS CLI_MD               writes the tables of options in docs/cli.md anew
    manual.py check DECLARATIONS CLI_MD FILE…          says what differs, and which command lines in the FILEs name what there is not

DECLARATIONS is the program cli/manual/main.cpp.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

import roff
from chapters import Fault, chapters, in_cell, lead, named, option_cell, updated

DOCUMENTS = "share/doc/uscope/docs"


def declarations_of(program):
    return json.loads(subprocess.run([program], capture_output=True, text=True, check=True).stdout)


def page_name(verb=None):
    return "uscope" + (f"-{verb['name']}" if verb else "")


def options_of(verb, tails):
    """The macros of all options: the cells that docs/cli.md has."""
    lines = []
    for option in named(verb):
        tail = next((tails[name] for name in option["names"] if tails.get(name)), "")
        lines += roff.item(roff.plain(unescaped(option_cell(option))), roff.plain(lead(option)))
        if tail:
            lines += [".IP", roff.plain(unescaped(tail))]
    return lines + roff.item("\\fB\\-h\\fP, \\fB\\-\\-help\\fP", "print the options in short, and exit")


def see_also(declarations, own):
    pages = [page_name()] + [page_name(verb) for verb in declarations["verbs"]]
    listed = ",\n".join(f"\\fB{roff.escaped(name)}\\fP(1)" for name in pages if name != own)
    return [".SH \"SEE ALSO\"", listed + ".", ".PP", f"The documents that the pages name lie in {roff.escaped(DOCUMENTS)} below the prefix of the installation."]


def general(intro):
    """The parts of the page before its first chapter: the text, and `### HEADING` with its own."""
    parts = re.split(r"^### (.*)\n", intro.partition("\n")[2], flags=re.M)
    return parts[0], dict(zip(parts[1::2], parts[2::2]))


def verb_page(verb, chapter, declarations, exit_status):
    synopsis, examples, before, after = chapter.blocks()
    lines = roff.head(page_name(verb), declarations["version"], declarations["date"])
    lines += [".SH NAME", f"{roff.escaped(page_name(verb))} \\- {roff.escaped(verb['description'].replace('`', ''))}"]
    lines += [".SH SYNOPSIS", *roff.code(unindented(synopsis))]
    lines += [".SH EXAMPLES", *roff.code(unindented(examples))]
    lines += [".SH DESCRIPTION", *roff.to_roff(before)]
    lines += [".SH OPTIONS", *options_of(verb, chapter.options())]
    if after.strip():
        lines += [".SH DETAILS", *roff.to_roff(after)]
    return lines + [".SH \"EXIT STATUS\"", *roff.to_roff(exit_status), *see_also(declarations, page_name(verb))]


def command_page(intro, by_name, declarations):
    """uscope.1: what holds for all verbs."""
    text, parts = general(intro)
    examples = parts.pop("Examples")
    verbs = {verb["name"] for verb in declarations["verbs"]}
    lines = roff.head(page_name(), declarations["version"], declarations["date"])
    lines += [".SH NAME", "uscope \\- " + roff.escaped(declarations["purpose"].removeprefix("uscope ").rstrip("."))]
    lines += [".SH SYNOPSIS", *roff.code("uscope VERB [options]\nuscope VERB --help\nuscope --version")]
    lines += [".SH EXAMPLES", *roff.to_roff(examples), ".SH VERBS"]
    for verb in declarations["verbs"]:
        lines += roff.item(f"\\fB{roff.escaped(page_name(verb))}\\fP(1)", roff.plain(in_cell(verb["description"])))
    lines += [".SH DESCRIPTION", *roff.to_roff(text)]
    for heading, part in parts.items():
        lines += [f".SH {roff.quoted(heading.upper())}", *roff.to_roff(part)]
    for name, chapter in by_name.items():
        if name not in verbs:
            lines += [f".SH {roff.quoted(name.upper())}", *roff.to_roff(chapter.text)]
    return lines + see_also(declarations, page_name())


def unescaped(cell):
    """A cell of a table as Markdown outside of one."""
    return cell.replace("\\|", "|")


def unindented(block):
    return re.sub(r"^    ", "", block, flags=re.M)


def write_pages(declarations, page, folder):
    intro, by_name = chapters(page)
    exit_status = general(intro)[1]["Exit status"]
    pages = {page_name(): command_page(intro, by_name, declarations)}
    for verb in declarations["verbs"]:
        pages[page_name(verb)] = verb_page(verb, by_name[verb["name"]], declarations, exit_status)
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in pages.items():
        (folder / f"{name}.1").write_text("\n".join(lines) + "\n", encoding="utf-8")


def command_lines(text):
    """(verb, words up to `--`) of each `uscope VERB …` in an indented block."""
    for line in re.findall(r"^ {4,}(?:\$ )?(?:sudo )?(?:\S*/)?uscope ([a-z]\w*)((?: .*)?)$", text, flags=re.M):
        yield line[0], re.sub(r"'[^']*'|\"[^\"]*\"|#.*", " ", line[1]).split(" -- ")[0].split(" | ")[0].split()


def unknown_words(declarations, path, text):
    """What command lines of a document name that the command does not know."""
    verbs = {verb["name"]: {name for option in verb["options"] for name in option["names"]} for verb in declarations["verbs"]}
    for verb, words in command_lines(text):
        if verb not in verbs:
            yield f"{path}: `uscope {verb}`: no such verb"
            continue
        for word in words:
            option = re.match(r"[\[(]?(--?[A-Za-z][\w-]*)", word)
            if option and option[1] not in verbs[verb] and option[1][:2] not in verbs[verb]:
                yield f"{path}: `uscope {verb} … {option[1]}`: no such option"


def faults(declarations, path, page, documents):
    found = []
    if updated(page, declarations) != page:
        found.append(f"{path} differs from the command line: build the target update_manual, and look at what it changes")
    checked = 0
    for document in documents:
        text = Path(document).read_text(encoding="utf-8")
        checked += len(list(command_lines(text)))
        found += unknown_words(declarations, document, text)
    if checked < 20:
        found.append(f"only {checked} command lines were found in {len(documents)} documents")
    for verb in declarations["verbs"]:
        if not chapters(page)[1][verb["name"]].blocks()[1]:
            found.append(f"{path}, {verb['name']}: no examples; write `Examples:` and an indented block below the synopsis")
    return found


def main():
    action, program, path, *more = sys.argv[1:]
    try:
        declarations, page = declarations_of(program), Path(path).read_text(encoding="utf-8")
        if action == "update":
            Path(path).write_text(updated(page, declarations), encoding="utf-8")
        elif action == "pages":
            declarations["date"] = more[1]
            write_pages(declarations, page, Path(more[0]))
        elif action == "check":
            found = faults(declarations, path, page, more)
            print("\n".join(found) or f"{path}: as the command line is parsed")
            return 1 if found else 0
        else:
            print(__doc__)
            return 2
    except Fault as fault:
        print(fault, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
