# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""docs/cli.md, taken apart: a chapter for each verb, with its synopsis, its examples, its table of options and its text.

The table of options is partly made: names, values and the first sentences are those that the command line is parsed by
(uscope_declarations); what follows `<br>` in a cell is written by hand. It stands between BEGIN and END.
"""
import re

BEGIN = "<!-- options: the target update_manual writes these rows up to <br>; what follows it is written by hand -->"
END = "<!-- end of options -->"


class Fault(Exception):
    """The page is not as it has to be; the text says where, and what to do."""


def in_cell(text):
    """A text of the command line in a cell of a table."""
    return re.sub(r"([|*<\[])", r"\\\1", text)


def option_cell(option):
    """`-o`, `--output FILE.db`: the short names first."""
    names = sorted(option["names"], key=lambda name: name.startswith("--"))
    value = option["value"]
    if value:
        names[-1] += f"[={value}]" if option["value_may_be_left_out"] else f" {value}"
    return ", ".join(f"`{name}`".replace("|", "\\|") for name in names)


def lead(option):
    """What the help says of an option, as a cell has it."""
    text = in_cell(option["help"])
    return text + (f" (default: `{option['default']}`)" if option["default"] else "") + ("; must be given" if option["required"] else "")


def named(verb):
    """The options of a verb that have names, but --help."""
    return [option for option in verb["options"] if option["names"] and "--help" not in option["names"]]


def tails_of(block):
    """{name: what stands behind <br>} of a table, by each name of its rows."""
    tails = {}
    for line in block.splitlines():
        cells = re.fullmatch(r"\| (`-.*?`) \| (.*) \|", line)
        if cells:
            tail = cells[2].partition("<br>")[2]
            for name in re.findall(r"`(-[\w-]+)", cells[1]):
                tails[name] = tail
    return tails


def table(verb, block):
    """The rows of a verb's options, with the tails that the block has."""
    tails, lines = tails_of(block), ["| option | |", "| --- | --- |"]
    for option in named(verb):
        tail = next((tails[name] for name in option["names"] if tails.get(name)), "")
        for name in option["names"]:
            tails.pop(name, None)
        lines.append(f"| {option_cell(option)} | {lead(option)}{'<br>' + tail if tail else ''} |")
    for name, tail in tails.items():
        if tail:
            raise Fault(f"docs/cli.md, {verb['name']}: {name} is no option any more; move its text or remove it: {tail}")
    return "\n".join(lines)


class Chapter:
    """`## NAME` of the page, up to the next one."""

    def __init__(self, name, text):
        self.name, self.text = name, text

    def split(self):
        """What stands before the table of options, the table, and what follows."""
        before, begin, rest = self.text.partition(BEGIN + "\n")
        block, end, after = rest.partition(END)
        if bool(begin) != bool(end) or BEGIN in after:
            raise Fault(f"docs/cli.md, {self.name}: one table of options, between {BEGIN} and {END}")
        return before, block if begin else None, after

    def blocks(self):
        """The synopsis, the examples (indented blocks), and the text before and after the table."""
        before, _, after = self.split()
        found = re.match(r"\n*((?:    .*\n|\n(?=    ))+)\n(?:Examples:\n\n((?:    .*\n|\n(?=    ))+)\n)?", before)
        if not found:
            raise Fault(f"docs/cli.md, {self.name}: a chapter begins with its synopsis, an indented block")
        return found[1], found[2] or "", before[found.end():], after

    def options(self):
        return tails_of(self.split()[1] or "")


def chapters(page):
    """What stands before the first chapter, and all chapters by name."""
    parts = re.split(r"^## (.*)\n", page, flags=re.M)
    return parts[0], {name: Chapter(name, text) for name, text in zip(parts[1::2], parts[2::2])}


def updated(page, declarations):
    """The page with its tables as the command line has them."""
    _, by_name = chapters(page)
    for verb in declarations["verbs"]:
        chapter = by_name.get(verb["name"])
        if chapter is None:
            raise Fault(f"docs/cli.md has no chapter `## {verb['name']}`")
        before, block, after = chapter.split()
        if block is None:
            if named(verb):
                raise Fault(f"docs/cli.md, {verb['name']}: no table of options; write the two lines {BEGIN} and {END}")
            continue
        text = f"{before}{BEGIN}\n{table(verb, block)}\n{END}{after}"
        page = page.replace(f"## {verb['name']}\n{chapter.text}", f"## {verb['name']}\n{text}")
    return page
