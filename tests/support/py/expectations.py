# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What a fixture's first comment says must be in its trace, and the check of a trace against it.

Lines (each in the first comment of tests/fixtures/NAME.c):
  RUN [record options] [-- arguments]   one recording; the lines that follow belong to it
  EXPECT [some] call=NAME [count=N] [how=H] [result=N | result>N] [aN=N] [depth=N] [stacks=N] [ended=E] stack=FRAMES
      So many events (count) match all that is said; `ended` is `root` unless said otherwise (A|B: one of these). Every event of a call that
      is named in a RUN must match one of its EXPECT lines, unless a line of that call says `some`.
  EXPECT-STATIC, EXPECT-SHARED          the same of fixtures that libc is part of, and of the others
  TREE name(child,child(grandchild))    the process tree, each process by the base name of its last image
  STATUS N                              the exit status, 0 unless said

FRAMES: innermost first, separated by ` < `. A frame is a function's name (C++: demangled), libc:NAME (that function of
libc, whichever of its aliases is shown), %libc, %ld, %libstdc++, %libcrypto, %code (no ELF file), %exe (any function of that module);
behind it * NUMBER for so many, + for one or more. @start is libc's start code and _start, @thread libc's thread start,
`...` any rest, and `any` alone any stack or none.
"""

import collections
import dataclasses
import os
import re
import shlex

Frame = collections.namedtuple("Frame", "function module")


@dataclasses.dataclass
class Expectation:
    text: str
    call: str
    fields: dict
    some: bool
    stack: str


@dataclasses.dataclass
class Run:
    options: list
    arguments: list
    expectations: list = dataclasses.field(default_factory=list)
    tree: str = ""
    status: int = 0

    def title(self):
        return " ".join(["record", *self.options, "--", "FIXTURE", *self.arguments])


def parse_expectation(text):
    words, stack = text.split("stack=", 1)
    fields, some = {}, False
    for word in words.split():
        if word == "some":
            some = True
            continue
        match = re.fullmatch(r"(\w+)([=>])(\S+)", word)
        if not match:
            raise ValueError(f"not understood: {word!r} in {text!r}")
        fields[match[1]] = (match[2], match[3])
    call = fields.pop("call")[1]
    known = {"count", "how", "result", "depth", "stacks", "ended", "a0", "a1", "a2"}
    if set(fields) - known:
        raise ValueError(f"unknown: {set(fields) - known} in {text!r}")
    return Expectation(text, call, fields, some, stack.strip())


def parse_source(path, static=False):
    """The runs of a fixture's source; `static`: of a fixture that libc is part of."""
    with open(path, encoding="utf-8") as source:
        comment = source.read().split("*/", 1)[0]
    runs = []
    for line in comment.splitlines():
        line = line.strip().lstrip("/*").strip()
        word, _, rest = line.partition(" ")
        if word == "RUN":
            options, _, arguments = rest.partition("-- ")
            runs.append(Run(shlex.split(options), shlex.split(arguments)))
        elif word in ("EXPECT", "EXPECT-STATIC" if static else "EXPECT-SHARED"):
            runs[-1].expectations.append(parse_expectation(rest))
        elif word == "TREE":
            runs[-1].tree = rest.strip()
        elif word == "STATUS":
            runs[-1].status = int(rest)
    return runs


MODULES = {
    "%libc": r"libc(\.so.*|-\d.*\.so)",
    "%ld": r"ld-linux.*|ld-2.*",
    "%libstdc++": r"libstdc\+\+\.so.*",
    "%libcrypto": r"libcrypto\.so.*",
    "%code": r"\[anon\]|memfd:code|uscope-code-.*",
}


class Matcher:
    """Compares stacks with FRAMES. `exe` is the fixture's base name; `static`: libc is part of it; `stripped`: its own
    functions have no names, except for main and _start, so a named one matches any other frame of the executable."""

    def __init__(self, exe, static=False, stripped=False):
        self.exe, self.static, self.stripped = exe, static, stripped

    @staticmethod
    def plain(name):
        """An alias of a libc function without what tells it from the others: __libc_pause, __pause, pause."""
        return name.lower().lstrip("_").removeprefix("libc_").lstrip("_").removeprefix("gi_").lstrip("_")

    def token(self, token, frame):
        if token == "%exe":
            return frame.module == self.exe
        if token in MODULES:
            if token == "%libc" and self.static:
                return frame.module == self.exe
            return re.fullmatch(MODULES[token], frame.module) is not None
        if token.startswith("libc:"):
            if self.static and self.stripped:
                return frame.module == self.exe
            return self.token("%libc", frame) and self.plain(frame.function) == self.plain(token[5:])
        if self.stripped and frame.module == self.exe and token not in ("main", "_start"):
            return re.fullmatch(re.escape(self.exe) + r"\+0x[0-9a-f]+", frame.function) is not None
        return re.fullmatch(re.escape(token) + r"( \[clone \.cold[.\d]*\]|\.cold[.\d]*)?", frame.function) is not None

    @staticmethod
    def expand(pattern):
        """(token, least, most) for each part."""
        parts = []
        for word in (part.strip() for part in pattern.split(" < ")):
            if word == "@start":
                parts += [("%libc", 1, 9), ("_start", 1, 1)]
            elif word == "@thread":
                parts.append(("%libc", 1, 9))
            elif word == "...":
                parts.append(("...", 0, 1 << 30))
            elif match := re.fullmatch(r"(.+)\*(\d+)", word):
                parts.append((match[1], int(match[2]), int(match[2])))
            elif word.endswith("+") and word != "%libstdc++":
                parts.append((word[:-1], 1, 1 << 30))
            else:
                parts.append((word, 1, 1))
        return parts

    def matches(self, pattern, frames):
        if pattern == "any":
            return True
        places = {0}  # where the parts so far can have ended
        for token, least, most in self.expand(pattern):
            reached = set()
            for place in places:
                count = 0
                while True:
                    if count >= least:
                        reached.add(place + count)
                    if count == most or place + count == len(frames):
                        break
                    if token != "..." and not self.token(token, frames[place + count]):
                        break
                    count += 1
            places = reached
        return len(frames) in places


def field_matches(event, name, operator, value):
    have = event[name]
    if name in ("how", "ended"):
        return have in value.split("|")
    if have is None:
        return False
    return have > int(value) if operator == ">" else have == int(value)


def check_run(run, trace, matcher):
    """Failures, as texts: none where the trace holds what the run's lines say."""
    failures = []
    for lost in trace.losses():
        failures.append(f"lost: {lost}")
    covered = set()
    for expectation in run.expectations:
        fields = {"ended": ("=", "root"), **expectation.fields}
        if expectation.stack == "any":
            del fields["ended"]
        count = fields.pop("count", None)
        stacks = fields.pop("stacks", None)
        found = [
            event
            for event in trace.events(expectation.call)
            if all(field_matches(event, name, *rule) for name, rule in fields.items())
            and matcher.matches(expectation.stack, trace.frames(event["stack_id"]))
        ]
        covered |= {event["id"] for event in found}
        if count and len(found) != int(count[1]):
            failures.append(f"{len(found)} events, not {count[1]}: {expectation.text}")
            failures += explain(expectation, trace)
        elif not found:
            failures.append(f"no event: {expectation.text}")
            failures += explain(expectation, trace)
        if stacks and len({event["stack_id"] for event in found}) != int(stacks[1]):
            failures.append(f"{len({event['stack_id'] for event in found})} distinct stacks: {expectation.text}")
    free = {expectation.call for expectation in run.expectations if expectation.some}
    for call in {expectation.call for expectation in run.expectations} - free:
        for event in trace.events(call):
            if event["id"] not in covered:
                failures.append(f"unexpected: {trace.describe(event)}")
    # A walk that stops at the scope or the budget stops there: it does not walk on and throw frames away. Walks that
    # were left to user space or remembered are not counted so by the kernel side.
    early = sum(
        int(expectation.fields["count"][1])
        for expectation in run.expectations
        if expectation.fields.get("ended", ("=", ""))[1] in ("scope", "budget")
    )
    early -= sum(trace.figure(key) for key in ("deferred_no_table", "deferred_lock", "deferred_mappings", "deferred_copied", "memo_hits"))
    if trace.figure("walks_stopped_early") < early:
        failures.append(f"{trace.figure('walks_stopped_early')} walks ended early, not {early} or more")
    if run.tree and trace.tree() != run.tree:
        failures.append(f"process tree {trace.tree()}, not {run.tree}")
    return failures


def explain(expectation, trace):
    """The different events of a call, for the reader of a failure."""
    seen = collections.Counter(trace.describe(event) for event in trace.events(expectation.call))
    return [f"    there is {count} x {text}" for text, count in seen.most_common(6)]


def base_name(path):
    return os.path.basename(path).removesuffix(" (deleted)")
