# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The programs of tests/deadlock: what each must be found to be, told from what its source does (and looked at with gdb), not from
what uscope says. A thread goes by its name."""
from dataclasses import dataclass, field

TRACED, INTERRUPTED, ATTACHED, STRIPPED = "traced", "interrupted", "attached", "stripped"
WAYS = (TRACED, INTERRUPTED, ATTACHED, STRIPPED)
STOPPED = "stopped"  # attached to while it is stopped as by SIGSTOP
ANY = None
GONE = {"somebody who has ended, or was left behind by fork"}


@dataclass(frozen=True)
class Found:
    """verdict; types: what the finding may be called; threads: those accused, (name, primitive): the names of who holds what it waits
    for; blocked: others that wait."""

    verdict: str
    types: tuple = ()
    threads: dict = field(default_factory=dict)
    blocked: dict = field(default_factory=dict)
    count: dict = field(default_factory=dict)  # name: threads of this name, where it is not one
    some: tuple = ()  # names of which at least one is accused, and the others may be


@dataclass(frozen=True)
class Case:
    program: str
    scenario: str
    found: Found
    function: str = "takes"  # of the program's own, in the stack of each thread that is accused
    other: dict = field(default_factory=dict)  # way: Found, where it differs
    ways: tuple = WAYS
    contended: bool = False  # stopped, some threads are on their way out of a wait that is over

    def name(self):
        return f"{self.program}.{self.scenario}" if self.scenario else self.program

    def expected(self, way):
        return self.other.get(way, self.found)


def deadlock(kind, threads, blocked=None, **rest):
    return Found("deadlock", (kind,), threads, blocked or {}, **rest)


def stall(threads, blocked=None, types=("stall", "lost_wakeup"), **rest):
    return Found("stall", types, threads, blocked or {}, **rest)


def none(blocked=None, **rest):
    return Found("none", (), {}, blocked or {}, **rest)


JOINS = {"main": "join"}
ANONYMOUS = "(anonymous namespace)::"
RUST_JOINS = {"deadlock_locks_": "join"}
PAIR = {("ant", "mutex"): {"bee"}, ("bee", "mutex"): {"ant"}}
# The listener waits for its workers, they for what it holds.
PR42031 = {("listener", "condition_variable"): {"worker"}, ("worker", "mutex"): {"listener"}}
LOST = {("consumer", "condition_variable"): set()}

CASES = [
    Case("mutexes", "abba", deadlock("cycle", PAIR, {**JOINS, "cat": "mutex"})),
    Case("mutexes", "three_way", deadlock("cycle", {("dog", "mutex"): {"eel"}, ("eel", "mutex"): {"fox"}, ("fox", "mutex"): {"dog"}}, JOINS)),
    Case("mutexes", "self", deadlock("self_deadlock", {("twice", "mutex"): {"twice"}}, JOINS)),
    Case("mutexes", "in_handler", deadlock("self_deadlock", {("main", "mutex"): {"main"}}), function="handler"),
    Case("mutexes", "owner_ended", deadlock("owner_gone", {("waiter", "mutex"): GONE}, JOINS)),
    Case("mutexes", "forked", deadlock("owner_gone", {("child", "mutex"): GONE})),
    Case("mutexes", "pi_mixed", deadlock("cycle", PAIR, JOINS)),
    Case("mutexes", "without_main", deadlock("cycle", PAIR)),
    Case("shared", "abba", deadlock("cycle", {("parent", "mutex"): {"child"}, ("child", "mutex"): {"parent"}})),
    Case("shared", "owner_died", deadlock("owner_gone", {("parent", "mutex"): GONE})),
    Case("shared", "robust", none()),
    Case("shared", "news", none({"child": "semaphore"})),
    # With a history of wakes only those workers are accused that ever woke the listener: which ones differs.
    Case("pr42031", "join", deadlock("cycle", PR42031, JOINS, count={"worker": 4}, some=("worker",)), function="process_",
         other={way: deadlock("cycle", PR42031, JOINS, count={"worker": 4}) for way in (ATTACHED, STRIPPED)}),
    # The first thread reads a pipe: it has never woken the listener, but may do so for the first time. Who has not seen that it never did
    # cannot know even that.
    Case("pr42031", "pod", stall(PR42031, types=("cycle",), count={"worker": 4}, some=("worker",)), function="process_",
         other={way: none({"listener": "condition_variable", "worker": "mutex"}, count={"worker": 4}) for way in (ATTACHED, STRIPPED)}),
    Case("waits", "rwlock_cycle", deadlock("cycle", {("ant", "rwlock"): {"bee"}, ("bee", "rwlock"): {"ant"}}, JOINS), function=ANY),
    Case("waits", "join_cycle", deadlock("cycle", {("dog", "join"): {"eel"}, ("eel", "join"): {"fox"}, ("fox", "join"): {"dog"}},
                                         {"main": "semaphore"}), function="joins"),
    Case("waits", "join_holding", deadlock("cycle", {("main", "join"): {"needy"}, ("needy", "mutex"): {"main"}}), function=ANY),
    Case("cpp_locks", "mutex", deadlock("cycle", PAIR, JOINS), function=ANY),
    Case("cpp_locks", "shared_mutex", deadlock("cycle", {("dog", "rwlock"): {"eel"}, ("eel", "rwlock"): {"dog"}}, JOINS), function=ANY),
    # The kernel refuses who would close the cycle, and glibc lets that one wait on a word of its own. A trace has the refusal; later,
    # nothing tells what it wanted.
    Case("mutexes", "pi", stall({("late_bee", ANY): set()}, {**JOINS, "ant": "mutex"}),
         other={way: deadlock("cycle", {("ant", "mutex"): {"late_bee"}, ("late_bee", "mutex"): {"ant"}}, JOINS) for way in (TRACED, INTERRUPTED)}),
    # Nothing tells an owner.
    Case("waits", "lost_wakeup", stall({**LOST, ("main", "condition_variable"): set()}), function="waits_for"),
    Case("waits", "lost_wakeup_join", stall(LOST, JOINS), function="waits_for"),
    Case("waits", "rwlock_upgrade", stall({("upgrader", "rwlock"): set(), ("other_upgrader", "rwlock"): set()}, JOINS), function="writes"),
    Case("waits", "rwlock_alone", stall({("alone", "rwlock"): set()}, JOINS), function="writes"),
    Case("waits", "semaphore", stall({("brews", "semaphore"): set(), ("pours", "semaphore"): set()}, JOINS), function="needs"),
    Case("waits", "barrier", stall({("meet", "barrier"): set()}, JOINS, count={"meet": 2}), function=ANY),
    Case("waits", "once", stall({("late", "once"): set()}, JOINS), function="late"),
    Case("cpp_locks", "future", stall({("believer", "futex"): set()}, JOINS), function=ANONYMOUS + "believer"),
    Case("cpp_locks", "call_once", stall({("late", "once"): set()}, JOINS), function=ANONYMOUS + "late"),
    # A stripped program in Rust has no names at all, but for libc's: its locks are its own.
    Case("locks_rust", "mutex", stall({("ant", "rust_mutex"): set(), ("bee", "rust_mutex"): set()}, RUST_JOINS), function="locks::takes",
         other={STRIPPED: stall({("ant", "futex"): set(), ("bee", "futex"): set()}, RUST_JOINS)}),
    Case("locks_rust", "condvar", stall({("consumer", "rust_condvar"): set()}, RUST_JOINS), function="locks::waits",
         other={STRIPPED: stall({("consumer", "futex"): set()}, RUST_JOINS)}),
    Case("locks_rust", "rwlock", stall({("alone", "rust_rwlock"): set()}, RUST_JOINS), function="locks::writes",
         other={STRIPPED: stall({("alone", "futex"): set()}, RUST_JOINS)}),
    Case("locks_rust", "park", stall({("parked", "park"): set()}, RUST_JOINS), function="std::thread::park",
         other={STRIPPED: stall({("parked", "futex"): set()}, RUST_JOINS)}),
    # Not interrupted: Python takes that for an exception, and its first thread goes on.
    Case("locks.py", "", stall({("python3", "semaphore"): set()}, count={"python3": 3}), function=ANY, ways=(TRACED, ATTACHED)),
    # musl keeps no owner in a normal mutex.
    Case("mutexes_musl", "abba", stall({(name, "mutex"): set() for name in ("ant", "bee", "cat")}, JOINS)),
    Case("locks_go", "", none(), ways=(TRACED, INTERRUPTED, ATTACHED)),
]

# Who else reaches a lock (tests/deadlock/spaces.c). The first two and the gate may go on: a thread that is free would have to wake or cancel
# another one for the first time, or to unlock what it has not locked.
SPEAKS = {("listener", "condition_variable"): {"speaker"}, ("speaker", "mutex"): {"listener"}}
QUIET = none({"listener": "condition_variable", "speaker": "mutex", **JOINS})
CASES += [
    *(Case("spaces", name, stall(SPEAKS, JOINS, types=("cycle",)), function=ANY, other={ATTACHED: QUIET}, ways=(TRACED, ATTACHED))
      for name in ("first_signal", "cancelled")),
    Case("spaces", "gate", stall({("main", "join"): {"passer"}, ("passer", "mutex"): {"main"}}, types=("cycle",)), function=ANY,
         ways=(TRACED, ATTACHED)),
    Case("spaces", "vfork_hang", stall({("stuck_holder", "mutex"): set(), ("child", "mutex"): set()}), ways=(TRACED, ATTACHED)),
    Case("spaces", "lone_memfd", stall({("main", "semaphore"): set()}), function="needs", ways=(TRACED, ATTACHED)),
]

# What the kernel's part does differently: shared and private futexes. All else is about what lies around a futex in user space.
KERNEL = ("mutexes.abba", "shared.abba")

HEALTHY = [Case("healthy", name, none(), ways=(TRACED, ATTACHED)) for name in
           ("pool", "pool_sigwait", "pool_timed", "timed_cycle", "holder_reads", "handler_posts")]
HEALTHY += [Case("spaces", name, none(), ways=(TRACED, ATTACHED)) for name in
            ("vfork_child", "vm_child", "vm_poster", "namespaces", "named", "ring", "ring_closed", "ring_inherited", "mutex_semaphore", "timer")]
# Children that are copies of their parents (tests/deadlock/copies.c).
HEALTHY += [Case("copies", name, none(), ways=(TRACED, ATTACHED)) for name in ("recursive", "normal", "pid_namespace", "shared", "forked")]
# Traced from its start, the process that holds the memory is known and free; attached to, it is a stranger.
HEALTHY += [Case("spaces", "held_memfd", none(), ways=(TRACED, ATTACHED))]
# These do not rest: they are only looked at.
HEALTHY += [Case("healthy", "holder_runs", none(), ways=(ATTACHED, STOPPED)),
            Case("healthy", "contention", none(), ways=(ATTACHED, STOPPED), contended=True)]
