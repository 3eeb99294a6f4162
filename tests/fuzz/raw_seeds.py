# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Raw traces for the fuzzers of their reader and of the loader: include/uscope/record.h in Python."""
import pathlib
import re
import struct


def record_abi():
    """USC_RECORD_ABI: a reader refuses traces of every other version at once."""
    for header in sorted((pathlib.Path(__file__).resolve().parents[2] / "include" / "uscope").rglob("*.h")):
        if found := re.search(r"^#define USC_RECORD_ABI (\d+)", header.read_text(encoding="utf-8"), re.M):
            return int(found.group(1))
    raise RuntimeError("no header of include/uscope defines USC_RECORD_ABI")


START = 1_000_000_000_000
USER = 0xFFFF  # cpu of the collector's own records
EVENT, STACK, TASK, EXEC, EXIT, NAME, MAP, UNMAP, FILE, INFO = range(1, 11)
VERIFY, LOSS, META, TOTAL, IO_URING, JIT, LOGGED, PLACE, STRING, FD, FUTEX, LOG_KIND, SIGNAL, PARTIAL, HIT, KIND = range(12, 28)
LOOK, THREAD_LOOK, WAITED, RESOURCE, HELD_LOCK, MONITOR, TROUBLE, BLIND_MAP, CODE_DOUBT, GUISE, TASK_USER, CGROUP = range(28, 40)
TEXT, ADDRESS, RESULT, WORDS, PAIR = 1, 3, 7, 8, 9  # kinds of strings
DATA, DATA_OUT, VECTOR, POLL, POLL_OUT = 11, 12, 13, 17, 18
ROOT, BROKEN = 0, 3
SYSCALL, BY_MODULE, A_SIGNAL, SAMPLE, OFFCPU, TRACEPOINT, USDT, UFUNCTION, KFUNCTION = range(9)  # sources
MOMENT = 9  # how a hit ends that has no end, beside RETURNED and OPEN
RETURNED, NORETURN, KILLED, OPEN, ATTACHED, NO_ENTRY = range(6)


class Raw:
    def __init__(self, cpus=2):
        self.head = struct.pack("<QIIQqIIII16s64s", 0x315741524F435355, 128, record_abi(), START, 77, cpus, 1, 4096, 0,
                                bytes(range(16)), b"6.1.0-seed")
        self.records = []
        self.seq = [0] * cpus

    def put(self, kind, body, task=1, cpu=0, time=START + 1, number=None):
        body += b"\0" * (-len(body) % 8)
        if number is None:
            number = self.seq[cpu] if cpu < len(self.seq) else 0
            if cpu < len(self.seq):
                self.seq[cpu] += 1
        self.records.append(struct.pack("<IHHQIIQ", 32 + len(body), kind, cpu, number, task, 0, time) + body)

    def task(self, task=1, process=1, parent=0, pid=100, tid=100, flags=1, image=0, name=b"app"):
        self.put(TASK, struct.pack("<IIIIIIIIQIIIIQ16s", process, parent, pid, tid, pid, tid, 1, 0, START, flags, image, 0, 0, 77, name),
                 task)

    def event(self, nr=39, how=RETURNED, stack=0, task=1, entry=START + 5, end=START + 10, result=0, cpu=0, flags=0,
              abi=0, image=1, source=SYSCALL):
        self.put(EVENT, struct.pack("<Qq6QIIIBBBB", entry, result, 1, 2, 3, 4, 5, 6, stack, image, nr, how, abi, flags, source),
                 task, cpu, end)

    def bytes(self):
        return self.head + b"".join(self.records)


def frame(file, offset, exact=False):
    return (1 << 61 if exact else 0) | (file << 36 if file else 1 << 62) | offset


def sound():
    """Every type of record that the loader knows, at least once."""
    raw = Raw()
    raw.task()
    raw.task(task=2, parent=1, tid=101, flags=0, name=b"worker\x1b[0m")
    raw.task(task=3, process=2, parent=1, pid=102, tid=102)
    variable_parts(raw)
    for nr, how, stack in ((0, RETURNED, 1), (257, RETURNED, 2), (202, OPEN, 1), (231, NORETURN, 0), (35, ATTACHED, 2),
                           (1, KILLED, 9), (41, NO_ENTRY, 0)):
        raw.event(nr, how, stack, task=1 + nr % 3, entry=START + 10 + nr, end=START + 40 + nr, result=-2 if nr == 257 else 7)
    raw.event(202, RETURNED, 1, task=2, entry=START + 212, end=START + 999)
    raw.event(4, abi=1, task=4)
    raw.put(VERIFY, struct.pack("<QIIIi", START + 10, 1, 3, 4, 1), task=1)
    raw.put(LOSS, struct.pack("<QQII", START, 5, 0, 1), task=0, cpu=USER)
    raw.put(META, b"command\0[\"a\", \"b\"]\0", task=0, cpu=USER)
    raw.put(META, b"duration_ns\0" + b"1000\0", task=0, cpu=USER)
    raw.put(IO_URING, struct.pack("<II", 2, 0))
    raw.put(NAME, struct.pack("<16s", b"late</script>"), task=2, time=START + 50)
    for cpu, records in enumerate(list(raw.seq)):
        raw.put(TOTAL, struct.pack("<QQ", records, 0), task=0, cpu=cpu, number=0)
    return raw


def strings(raw):
    """Calls with strings, and descriptors from open to close."""
    def string(text, entry, arg=0, kind=TEXT, flags=0):
        raw.put(STRING, struct.pack("<QIHBB", entry, len(text), flags, arg, kind) + text, time=entry)

    raw.put(FD, struct.pack("<IiIHH", 1, 0, 1, 9, 0) + b"/dev/null", task=0, cpu=USER)
    raw.put(FD, struct.pack("<IiIHH", 1, -100, 0, 5, 0) + b"/work", task=0, cpu=USER)
    cases = ((2, (b"/etc/\xff\x1b", 0, TEXT, 0)), (2, (b"cut", 0, TEXT, 2)), (42, (b"\2\0\0\x50\x7f\0\0\1" + bytes(8), 1, ADDRESS, 0)),
             (42, (b"\1", 1, ADDRESS, 0)), (79, (b"/tmp\0", 0, RESULT, 0)), (437, (bytes(24), 2, WORDS, 0)),
             (22, (struct.pack("<ii", 3, -1), 0, PAIR, 0)), (80, (b"sub", 0, TEXT, 1)), (3, (b"", 0, TEXT, 0)),
             (1, (b"a\n\xff\0", 1, DATA, 2)), (0, (b"", 1, DATA_OUT, 0)), (1, (b"", 1, DATA, 4)),
             (20, (struct.pack("<QQII8Q", 2, 0, 0, 0, 1, 2, *[0] * 6) + b"abc", 1, VECTOR, 0)),
             (20, (struct.pack("<QQII8Q", 1 << 63, 1, 1, 0, *[(1 << 64) - 1] * 8), 1, VECTOR, 1)),
             (7, (struct.pack("<ihh", 3, 1, 0), 0, POLL, 0)), (7, (struct.pack("<ihhi", 3, 1, 1, -1), 0, POLL_OUT, 2)),
             (33, (b"", 1, TEXT, 0)), (425, (b"", 1, TEXT, 0)), (0, (b"", 1, TEXT, 0)))
    for i, (nr, (text, arg, kind, flags)) in enumerate(cases):
        entry = START + 1000 + 20 * i
        string(text, entry, arg, kind, flags)
        raw.event(nr=nr, entry=entry, end=entry + 5, result=3)
    return raw


def futexes(raw):
    """Waits with looks at them, wakes, and what cannot be."""
    def futex(entry, op, flags=0, key=1, words=bytes(96), timeout=(1 << 64) - 1, strangers=0xFFFFFFFF, task=1):
        raw.put(FUTEX, struct.pack("<QQQQQQQIIIIIHBB", entry, 0x7F0000001030, timeout, 1, 2049, 64, 0x7F0000001000, op, 2, 1, strangers, 1,
                                   len(words), key, flags) + words, task=task, time=entry)

    for i, (how, op, looks) in enumerate(((OPEN, 128, (2, 6)), (ATTACHED, 0, (6,)), (RETURNED, 9, ()), (KILLED, 6, (2, 2)), (RETURNED, 1, ()))):
        entry = START + 2000 + 20 * i
        if how != ATTACHED:
            futex(entry, op, flags=1 if op == 1 else 0, key=2 if op == 1 else 1, timeout=entry + 5, words=bytes(range(96)) if op != 1 else b"")
        for look in looks:
            futex(entry, op, flags=look, key=2, strangers=3)
        raw.event(nr=202, how=how, entry=entry, end=entry + 5)
    futex(START + 5000, 128, words=bytes(97))
    futex(START + 5000, 0xFFFFFFFF, flags=0xFF, key=9, timeout=0, task=77)
    return raw


def variable_parts(raw):
    path, arguments = b"/bin/ev\x1b]0;il", b"evil\0-x\0\xff\0"
    raw.put(EXEC, struct.pack("<IIIIIIIIIIQ16s", 1, 1, 1, 2, 100, 100, len(path), len(arguments), len(arguments), 0, 77,
                              b"evil") +
            path + arguments)
    components = b"libc.so.6\0lib\0/\0"
    raw.put(FILE, struct.pack("<IIQQQqIIQQQHBBI", 2, 100, 8, 9, 4096, 1, 2, 3, 0x400000, 0x500000, 0, len(components),
                              0, 0, 1) + components, task=0)
    for number, path, cut in ((77, b"app.service\0system.slice\0", 0), (78, b"", 0), (79, b"\xff\x1b\0x", 1)):
        raw.put(CGROUP, struct.pack("<QII", number, len(path), cut) + path)
    known = b"/usr/bin/app"
    raw.put(INFO, struct.pack("<IIIIIHHHHHBB", 2, 1, 10, 80, 3, 1, 4, len(known), 0, 3, 1, 0) +
            struct.pack("<QQQ", 0x1000, 0x1000, 0x401000) + b"\1\2\3\4" + known + b"bad", task=0, cpu=USER)
    for number, frames, ended in ((1, (frame(2, 0x1010, True), frame(2, 0x1100)), ROOT),
                                  (2, (frame(0, 0x7FFF0010, True), frame(3, 5), frame(1, 0x60)), BROKEN + 1)):
        raw.put(STACK, struct.pack("<IIHBBI", number, 1, len(frames), ended, 0, 0) +
                struct.pack(f"<{len(frames)}Q", *frames))
    raw.put(JIT, struct.pack("<IHHQQQ", 1, 9, 0, 0x7FFF0010, 0x7FFF0000, 0x20) + b"jit;\x1bname", task=0, cpu=USER)
    for kind, source in ((1, BY_MODULE), (0x80000001, BY_MODULE), (2, SYSCALL)):  # the last is no source of logged events
        raw.put(LOGGED, struct.pack("<IIIBBH6Q", kind, 1, 1, 1, source, 1, *range(6)) + struct.pack("<I", 1))
    raw.put(PLACE, struct.pack("<IHH", 1, 5, 0) + b"a b+1")
    raw.put(LOG_KIND, struct.pack("<IHBB", 0x80000001, 5, BY_MODULE, 0) + b"a \x1b[m")


def signals(raw):
    """Sent and delivered, by others and by the kernel, with handlers in a file and in none, and what cannot be."""
    def signal(number, flags, code=0, result=0, handler=0, at=0, info=(0, 0), task=1, time=START + 3000, names=(b"", b"")):
        raw.put(SIGNAL, struct.pack("<IIiIIIII2Q2QBBB5x16s16s", 1, 1, code, 1, 100, 101, 102, 103, *info, handler, at, number, flags,
                                    result, *names), task=task, time=time)

    for i, number in enumerate((1, 9, 11, 15, 17, 29, 31, 32, 64)):
        signal(number, 4, code=i - 6, result=i % 5, info=(1 << 63 | i, (1 << 64) - 1), names=(b"\x1b[0m;", b"sixteen-letters-"),
               time=START + 3000 + i)
        signal(number, 1, code=i, handler=0x401010 + i, at=frame(2 if i % 2 else 0, 0x1010 + i, True), time=START + 3100 + i)
    signal(15, 0xFF, code=0x80, handler=1, at=frame(0xFFFF, 5), task=77)
    signal(15, 0, time=START + 3200)
    signal(15, 0, time=START + 3200)
    signal(65, 0)
    signal(1, 0, result=9)
    return raw


def hits(raw):
    """Of each source, with kernel frames and strings, twice told, open and ended; and what cannot be."""
    def hit(source, kind, entry, end=None, how=MOMENT, frames=(1,), flags=2, stack=1, args=(1, 10101010, 3, 4, 5, (1 << 64) - 1), task=1, wide=False):
        raw.put(HIT, struct.pack("<Qq6QIIIHBBB7x", START + entry, -2, *args, stack, 1, kind, len(frames), how, source, flags) +
                struct.pack(f"<{len(frames)}{'Q' if wide else 'I'}", *frames), task=task, time=START + (end or entry))

    def kind(source, number, *texts, args=None):
        text = b"".join(one + b"\0" for one in texts)
        raw.put(KIND, struct.pack("<IHBB", number, len(text), source, len(texts) - 1 if args is None else args) + text, task=0, cpu=USER)

    kind(SAMPLE, 1, b"user", b"cpu:unsigned int", b"period_ns:u64")
    kind(SAMPLE, 1, b"told twice")
    kind(OFFCPU, 2, b"sleeping", b"waker_tid:pid_t", b"waker_pid:pid_t", b"queued_ns:u64", b"state:unsigned int")
    kind(UFUNCTION, 1, b"libc.so.6:\xff\x1b[m", b"path:const char *", b"", b":", b"n", b"a:b:c", b"f:long")
    kind(KFUNCTION, 7, b"f", args=0)
    hit(SAMPLE, 1, 3000, frames=(1, 0, 9))
    hit(SAMPLE, 2, 3001, frames=())
    hit(OFFCPU, 2, 3010, 3020, OPEN)
    hit(OFFCPU, 2, 3010, 3090, RETURNED)
    hit(OFFCPU, 3, 3100, 9_000_000_000, OPEN, task=2)
    for arg, text in ((0, b"/etc/\xff"), (5, b"")):
        raw.put(STRING, struct.pack("<QIHBB", START + 3200, len(text), 0, arg, TEXT) + text, time=START + 3200)
    hit(UFUNCTION, 1, 3200, 3300, RETURNED, flags=0)
    hit(TRACEPOINT, 5, 3400, stack=99, task=77)
    hit(USDT, 1, 3400)
    hit(KFUNCTION, 7, 3500, 3400, RETURNED, flags=128, frames=(1 << 63, 5), wide=True)  # addresses, and an end before its beginning
    hit(KFUNCTION, 0xFFFFFFFF, 3600, frames=(1,) * 64)
    hit(9, 1, 3700)
    kind(9, 1, b"of a later version")
    raw.put(PARTIAL, struct.pack("<Q8qII", 5, *range(1, 9), 3, 0) + struct.pack("<4q", 1, -1, 2, 3) * 6 + struct.pack("<II", 1, 0), task=0)
    for entry in (3800, 3801):
        raw.event(nr=0, entry=START + entry, end=START + entry + 1)
    hit(SYSCALL, 1, 3900)
    hit(SAMPLE, 1, 3901, how=KILLED)
    hit(SAMPLE, 1, 3902, frames=(1,) * 65)
    kind(SYSCALL, 1, b"read")
    kind(USDT, 1, b"", b"a:b")
    kind(USDT, 1, b"more arguments than it says", b"a:b", args=0)
    return raw


def looks(raw):
    def begin(look):
        raw.put(LOOK, struct.pack("<IIQ", look, 0, 0), task=0, cpu=USER)

    def end(look, records):
        raw.put(LOOK, struct.pack("<IIQ", look, 1, records), task=0, cpu=USER)

    def thread(look, state=2, task=1, nr=61, timed=0):
        raw.put(THREAD_LOOK, struct.pack("<II6QIBBBBBBB5x16sQ", look, 7, 1, 2, 3, 4, 5, 6, nr, 0, 1, state, 1, timed, 19, 1, b"gdb", 0x2002), task, USER)

    def rest(look):
        raw.put(WAITED, struct.pack("<IiiIIBB2x", look, 5, -1, 0, 0, 0, 2), cpu=USER)
        raw.put(WAITED, struct.pack("<IiiIIBB2x", look, -1, -1, 0, 99, 1, 0), cpu=USER)
        for process, text in ((1, b"pipe:[4711]"), (0, b"/tmp/a\xff\n")):
            raw.put(RESOURCE, struct.pack("<IIIiQQQQQBBBBH2x16s", look, process, 100, 5, 12, 4711, 4712, 65536, 0, 1, 2, 0x7F, 1, len(text), b"app") + text, task=0, cpu=USER)
        for flags in (0x68, 0x71, 0xFF):
            raw.put(HELD_LOCK, struct.pack("<IIiIQQQQBBB5x", look, 1, -1, 1, 2049, 12, 0, 99, 1, 1, flags), task=0, cpu=USER)
        raw.put(MONITOR, struct.pack("<IIQBBHHH", look, 101, 0xFFFF, 0, 0, 16, 8, 0) + b"java.lang.Objectthread 1", cpu=USER)
        raw.put(TROUBLE, struct.pack("<IIII", look, 1, 10, 0) + b"no answer.", task=0, cpu=USER)

    begin(1)
    thread(1)
    rest(1)
    end(1, 10)
    begin(2)  # not whole: the first one is kept
    thread(2, nr=0xFFFFFFFF)
    end(2, 2)
    end(3, 0)
    thread(1, state=99, timed=9)
    begin(4)
    thread(4, task=77)
    rest(4)
    return raw


def guises(raw):
    """Names and users that change, and the serials that stand for them in the place of an image's."""
    for task, time, uid, name, guise, image in ((1, 100, 1000, b"first", 50, 1), (2, 200, 0, b"worker", 51, 50), (1, 100, 7, b"of that time", 50, 0),
                                                (77, 300, 0xFFFFFFFF, b"\xff;\n", 0xFFFFFFFF, 52), (1, 50, 1000, b"earlier", 52, 52)):
        raw.put(NAME, struct.pack("<16s", name), task=task, time=START + time)
        raw.put(TASK_USER, struct.pack("<II", uid, 0), task=task, time=START + time)
        raw.put(GUISE, struct.pack("<IIII16s", guise, image, uid, 0, name), task=task, time=START + time)
        raw.event(task=task, image=guise, entry=START + time + 5, end=START + time + 9)
    for reason in (0, 1, 99):
        raw.put(CODE_DOUBT, struct.pack("<IIIIQQQ32s", reason, 100, 101, 0, 0x1000, (1 << 64) - 1, 0x1234, b"/tmp/a\xff"), time=START + 400)
    return raw


def seeds():
    whole = sound().bytes()
    times = Raw()
    times.task()
    for i, entry in enumerate((START + 900, START, START + 500_000_000, 0, (1 << 64) - 1, START + 10**15, START - 5)):
        times.event(entry=entry, end=START + 7 * i)
    ids = Raw()
    ids.event(stack=0xFFFFFFFF, task=0xFFFFFFFF, image=0xFFFFFFFF, nr=0xFFFFFFFF, abi=9)
    ids.event(source=SAMPLE)
    ids.event(source=99)
    ids.put(LOSS, struct.pack("<QQII", 0, (1 << 64) - 1, 999, 0xFFFFFFFF), task=0, cpu=USER)
    ids.put(EXIT, struct.pack("<IIII", 7, 9, 1, 0), task=7)
    ids.task(task=5, process=5, parent=6)
    ids.task(task=6, process=6, parent=5)
    totals = Raw()
    totals.put(TOTAL, struct.pack("<QQ", (1 << 64) - 1, 1), number=(1 << 64) - 1)
    totals.event(cpu=1)
    return {"whole": whole, "strings": strings(sound()).bytes(), "futexes": futexes(sound()).bytes(), "signals": signals(sound()).bytes(), "hits": hits(sound()).bytes(), "looks": looks(sound()).bytes(), "guises": guises(sound()).bytes(), "cut": whole[:-30],
            "header": whole[:40], "header_cut": whole[:17], "empty": b"", "flipped": whole[:300] + b"\xff\xff" + whole[302:], "times": times.bytes(), "ids": ids.bytes(),
            "totals": totals.bytes(), "other_version": whole[:12] + b"\7" + whole[13:], "version_4": whole[:12] + b"\4" + whole[13:], "text": b"#!/bin/sh\n" * 9}
