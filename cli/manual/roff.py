# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Markdown to the man macros of roff, as man-db and mandoc read them.

markdown-it parses; what it finds becomes macros here. A table becomes a list: the first cell of a row is the term, and the
others are its text, since a table of long cells is hard to read on a terminal. A link keeps its text only, and a picture is left out.
"""
import re

from markdown_it import MarkdownIt

PARSER = MarkdownIt("commonmark").enable("table")
INDENT = 4
BULLET = "\\(bu"


def escaped(text):
    """A text without characters that have a meaning of their own; a line may still begin as a request does."""
    for character, escape in (("\\", "\\e"), ("-", "\\-"), ("'", "\\(aq"), ("`", "\\(ga"), ("^", "\\(ha"), ("~", "\\(ti")):
        text = text.replace(character, escape)
    return text


def quoted(text):
    """An argument of a macro."""
    return '"' + escaped(text).replace('"', "\\(dq") + '"'


def inline(token):
    out = ""
    for child in token.children or []:
        if child.type == "text":
            out += escaped(child.content)
        elif child.type == "code_inline":
            out += "\\fB" + escaped(child.content) + "\\fP"
        elif child.type in ("strong_open", "em_open"):
            out += "\\fB" if child.type == "strong_open" else "\\fI"
        elif child.type in ("strong_close", "em_close"):
            out += "\\fP"
        elif child.type in ("softbreak", "hardbreak"):
            out += "\n" if child.type == "softbreak" else "\n.br\n"
        elif child.type == "html_inline" and child.content == "<br>":
            out += "\n.br\n"
        elif child.type in ("link_open", "link_close", "image"):
            continue
        else:
            raise ValueError(f"Markdown that no man page knows: {child.type} in {token.content!r}")
    out = re.sub(r"(?<=[a-z0-9)P][.?!]) +(?=[A-Z])", "\n", out)  # a sentence begins a line, as roff wants it
    return re.sub(r"^\.(?!br$)", r"\\&.", out, flags=re.M)


def plain(markdown):
    """Inline Markdown, as a text of its own."""
    return inline(PARSER.parseInline(markdown)[0])


def code(text):
    return [".EX", re.sub(r"^\.", r"\\&.", escaped(text.rstrip("\n")), flags=re.M), ".EE"]


def item(term, text):
    return [".TP", term, text]


class Pages:
    """The lines that a sequence of tokens becomes."""

    def __init__(self):
        self.lines = []
        self.lists = []  # of each open list: the number of its next item, None for bullets
        self.fresh = True  # a heading or an item has just begun, which takes no paragraph macro
        self.row, self.head = [], []
        self.in_table = self.in_head = False

    def paragraph(self, macro=".PP"):
        if not self.fresh:
            self.lines.append(".IP" if macro == ".PP" and self.lists else macro)
        self.fresh = False

    def add(self, tokens):
        for position, token in enumerate(tokens):
            if hasattr(self, "on_" + token.type):
                getattr(self, "on_" + token.type)(token, tokens[position + 1] if position + 1 < len(tokens) else None)
            elif token.type not in KNOWN:
                raise ValueError(f"Markdown that no man page knows: {token.type}")
        return self

    def on_heading_open(self, token, following):
        self.lines += [(".SH " if token.tag == "h2" else ".SS ") + quoted(following.content.replace("`", ""))]
        following.children = []
        self.fresh = True

    def on_inline(self, token, _):
        if self.in_table:
            self.row.append(inline(token))
            return
        if not token.children:  # a heading's: it is there already
            return
        if text := inline(token):  # a picture alone leaves none
            self.paragraph()
            self.lines.append(text)

    def on_code_block(self, token, _):
        self.paragraph()
        self.lines += code(token.content)

    on_fence = on_code_block

    def on_bullet_list_open(self, _token, _following):
        if self.lists:
            self.lines.append(".RS")
        self.lists.append(None)

    def on_ordered_list_open(self, _token, _following):
        if self.lists:
            self.lines.append(".RS")
        self.lists.append(1)

    def on_bullet_list_close(self, _token, _following):
        self.lists.pop()
        if self.lists:
            self.lines.append(".RE")
        self.fresh = False

    on_ordered_list_close = on_bullet_list_close

    def on_list_item_open(self, _token, _following):
        number = self.lists[-1]
        self.lines.append(f".IP {BULLET if number is None else f'{number}.'} {INDENT}")
        self.lists[-1] = number + 1 if number is not None else None
        self.fresh = True

    def on_table_open(self, _token, _following):
        self.in_table = True

    def on_table_close(self, _token, _following):
        self.in_table = False
        self.fresh = False

    def on_tr_open(self, _token, _following):
        self.row = []

    def on_thead_open(self, _token, _following):
        self.in_head = True

    def on_tr_close(self, _token, _following):
        if self.in_head:
            self.head, self.in_head = self.row, False
            return
        titles = self.head + [""] * (len(self.row) - len(self.head))
        cells = [cell if len(self.row) == 2 or not title else f"{title}: {cell}"
                 for title, cell in zip(titles[1:], self.row[1:]) if cell]
        self.lines += item(self.row[0] or "\\(em", "\n.br\n".join(cells) if cells else "\\&")
        self.fresh = False


KNOWN = {"heading_close", "paragraph_open", "paragraph_close", "list_item_close", "thead_close", "tbody_open", "tbody_close", "th_open",
         "th_close", "td_open", "td_close"}


def to_roff(markdown):
    """Headings are of level two (a section) and three."""
    return Pages().add(PARSER.parse(markdown)).lines


def head(name, version, date):
    """The first line of a page of section 1."""
    return [f'.TH {quoted(name.upper())} 1 "{date}" {quoted("uscope " + version)} "Manual of uscope"']
