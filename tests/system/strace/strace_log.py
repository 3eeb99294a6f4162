# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Reads `strace -f -k -o FILE`: calls by process, the process tree, and stacks as (module, file offset).

An entry is counted, not a return: a `<... resumed>` line completes an entry that was counted. The stack that `-k` prints
follows the line on which its call ended, as ` > module(symbol+0x..) [0xOFFSET]`; the offset is the file's, the module and
offset are true also where strace's symbol is not. Pids must not come round during the run.
"""

import collections
import dataclasses
import re

LINE = re.compile(r"^(\d+) +(.*)$")
CALL = re.compile(r"^([a-z_0-9]+)\((.*)$")
RESUMED = re.compile(r"^<\.\.\. ([a-z_0-9]+) resumed>(.*)$")
RESTARTED = re.compile(r"^restart_syscall\(<\.\.\. resuming interrupted ([a-z_0-9]+) ")
RESULT = re.compile(r"= (\d+)$")
FRAME = re.compile(r"^ > (.*?)(\([^()]*(?:\(.*\))?[^()]*\))? \[0x([0-9a-f]+)\]$")


@dataclasses.dataclass
class Call:
    tid: int
    name: str
    text: str
    stack: list = dataclasses.field(default_factory=list)


class StraceLog:
    def __init__(self, path):
        self.calls = []
        self.root = None
        self.made_by = {}  # tid -> (tid of its maker, whether it is a thread of the same process), in order
        self.pending = {}  # tid -> the call that it is in
        self.last = None
        with open(path, encoding="utf-8", errors="surrogateescape") as log:
            for line in log:
                self.line(line.rstrip("\n"))

    def line(self, line):
        if line.startswith(" > "):
            frame = FRAME.match(line)
            if self.last:
                self.last.stack.append((frame[1], int(frame[3], 16)) if frame else (line[3:], None))
            return
        head = LINE.match(line)
        self.last = None
        if not head:
            return
        tid, text = int(head[1]), head[2]
        if self.root is None:
            self.root = tid
        if resumed := RESUMED.match(text):
            call = self.pending.pop(tid, None)
            if call is None or call.name != resumed[1]:  # an exec by another thread: back under the leader's tid
                call = next((c for c in self.pending.values() if c.name == resumed[1]), call)
            self.finish(call, text)
        elif call := CALL.match(text):
            restarted = RESTARTED.match(text)
            entry = Call(tid, restarted[1] if restarted else call[1], text)
            self.calls.append(entry)
            if text.endswith("<unfinished ...>"):
                self.pending[tid] = entry
            else:
                self.finish(entry, text)

    def finish(self, call, text):
        self.last = call
        if not call or call.name not in ("clone", "clone3", "fork", "vfork"):
            return
        result = RESULT.search(text)
        if result and result[1] != "0":
            self.made_by[int(result[1])] = (call.tid, "CLONE_THREAD" in call.text + text)

    def process_of(self, tid):
        """The process (by its first thread's tid) that a thread belongs to."""
        while tid in self.made_by and self.made_by[tid][1]:
            tid = self.made_by[tid][0]
        return tid

    def children(self):
        """process -> its child processes, in the order of their making."""
        below = collections.defaultdict(list)
        for child, (maker, is_thread) in self.made_by.items():
            if not is_thread:
                below[self.process_of(maker)].append(child)
        return below

    def by_process(self):
        """process -> its calls."""
        calls = collections.defaultdict(list)
        for call in self.calls:
            calls[self.process_of(call.tid)].append(call)
        return calls
