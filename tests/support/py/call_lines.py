# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Lines of calls, as strace -f and `uscope events` print them."""
import collections
import re

LINE = re.compile(r"^(?:.*?\[)?(\d+)(?:/\d+\] [\d.]+)? +([a-z_0-9]+)\((.*)$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. ([a-z_0-9]+) resumed>(.*)$")
UNFINISHED = "<unfinished ...>"


def calls_of(text):
    """Calls by process, in the order of entry: [name, what stands behind the opening parenthesis]. A call that strace's log interrupts is
    put together again."""
    calls, pending = collections.defaultdict(list), {}
    for line in text.splitlines():
        if resumed := RESUMED.match(line):
            begun = pending.pop(resumed[1], None)
            if begun:
                begun[1] += resumed[3]
        elif call := LINE.match(line):
            entry = [call[2], call[3].removesuffix(UNFINISHED).removesuffix(" ")]
            calls[call[1]].append(entry)
            if line.endswith(UNFINISHED):
                pending[call[1]] = entry
    return list(calls.values())


class Comparison:
    """Counts what differs between strace and uscope, and prints the first differences."""

    PRINTED = 40

    def __init__(self):
        self.calls = self.different = 0

    def tell(self, what, strace, uscope):
        self.different += 1
        if self.different <= self.PRINTED:
            print(f"{what}\n  strace: {strace}\n  uscope: {uscope}")
