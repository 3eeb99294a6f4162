# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The programs of tests/deadlock in which processes wait for more than futexes: what each must be found to be, told from what its source
does, not from what uscope says. A process goes by its role, its name."""
from dataclasses import dataclass

TRACED, INTERRUPTED, ATTACHED, BY_NAME = "traced", "interrupted", "attached", "by_name"
WAYS = (TRACED, INTERRUPTED, ATTACHED)
# By its name the same processes are found, and the rest is as by its process: a few of them are enough.
ALL_WAYS = (*WAYS, BY_NAME)


@dataclass(frozen=True)
class Case:
    """verdicts: those that are true of it; accused: the roles of whom a finding must name, and of nobody else but the `others`; roles: all
    that say that they wait, `count` of each if it is not one; says: words that the text must contain; attached: verdicts where it is looked at
    after it hung, if these are others, and `attached_says` what the text then says; types: of findings. missed: `none` or `undecided`
    is known to be found, for the reason given: it is counted, and fails no test."""

    program: str
    scenario: str
    verdicts: tuple
    accused: tuple = ()
    others: tuple = ()
    count: int = 1
    says: tuple = ()
    attached: tuple = ()
    attached_says: tuple = ()
    types: tuple = ()
    names: tuple = ()  # of the accused threads, where those have no roles
    child: bool = False  # it says nothing, and hangs when a child of it waits
    missed: str = ""
    ways: tuple = WAYS
    target: str = "main"  # the role of the process that is looked at

    def verdicts_of(self, way):
        return self.attached if self.attached and way in (ATTACHED, BY_NAME) else self.verdicts

    def says_of(self, way):
        return self.attached_says if self.attached_says and way in (ATTACHED, BY_NAME) else self.says

    def name(self):
        return f"{self.program}.{self.scenario}"

    def roles(self):
        return set(self.accused) | set(self.others)


def hang(program, scenario, *accused, **rest):
    types = ("self_deadlock",) if len(accused) == 1 and rest.get("count", 1) == 1 else ("cycle",)
    return Case(program, scenario, ("deadlock",), accused, types=types, **rest)


def either(program, scenario, *accused, **rest):
    return Case(program, scenario, ("deadlock", "stall"), accused, **rest)


def undecided(program, scenario, *roles, **rest):
    return Case(program, scenario, ("undecided",), (), roles, **rest)


def stopped(program, scenario, *accused, **rest):
    """Anybody may let a stopped process go on, so it is no deadlock."""
    return Case(program, scenario, ("stall",), accused, **{"types": ("stopped",), **rest})


# What the kernel tells nobody, so that to say so is right, too: what lies in sockets' queues.
HIDDEN = ("stranger_in_flight", "stranger_in_flight_too")


def healthy(program, scenario, *roles, **rest):
    return Case(program, scenario, ("none", "undecided") if scenario in HIDDEN else ("none",), (), roles, **rest)


CASES = [
    hang("ends", "child_full_pipe", "main", "talker", ways=ALL_WAYS),
    hang("ends", "sibling_holds_end", "main", "sibling"),
    hang("ends", "reader_holds_end", "main"),
    hang("ends", "both_write_unix", "main", "peer"),
    hang("ends", "both_write_tcp", "main", "peer"),
    hang("ends", "both_read_unix", "main", "peer"),
    hang("ends", "never_reads", "main", "sink", others=("source",)),
    hang("ends", "poll_two", "main", "left", "right"),
    either("ends", "epoll_dead", "main", missed="a signal handler might use the ends"),
    # The kernel does not say what lies in a socket's queue.
    undecided("ends", "in_flight", "main", says=("in flight to socket:[", "one of them may be an end of what it waits for")),
    # What handlers of signals do is not known, but who writes to what nobody reads does not rest.
    undecided("ends", "own_full_pipe", "main", says=("a signal handler that uses descriptor", "grep SigCgt /proc/")),
    undecided("ends", "event_loop", "main", "talker", says=("waits in write(", "Nothing but a handler of SIGUSR1 in process", "grep SigCgt /proc/")),
    undecided("ends", "keeps_write_end", "main", "relayed", says=("a signal handler that uses descriptor", "grep SigCgt /proc/")),
    hang("terminals", "question", "main", "asks", says=("the master of /dev/pts/",), ways=ALL_WAYS),
    hang("terminals", "password", "main", "asks_for_password", says=("the master of /dev/pts/",)),
    hang("terminals", "set", "main", "polls", says=("the master of /dev/pts/",)),
    undecided("terminals", "both_read", "main", "asks", says=("all threads sleep", "for whoever opens /dev/pts/")),
    stopped("terminals", "full", "main", "prints", types=("cycle",), says=("the master of /dev/pts/",)),
    # What threads of a Java virtual machine do next is not known. It makes calls all the time, and ends by itself when it is interrupted: then
    # there is no look at it from before.
    undecided("Child", "full", ways=(TRACED, ATTACHED), target="", child=True, says=("waits in write(", "`jstack ")),
    undecided("Child", "quiet", ways=(ATTACHED,), target="", child=True, says=("waits in read(", "`jstack ")),
    # Whoever knows its name may open the other end.
    Case("ends", "fifo_one_end", ("none",), (), ("main",), says=("openat(", "lonely.fifo, O_RDONLY)", "can be ended by whoever opens")),
    # Whoever knows their names may open both, but nobody of the application will.
    Case("ends", "fifo_cross", ("undecided",), (), ("asker", "answerer"),
         says=("all threads sleep", "whoever opens", "answers.fifo to write it", "questions.fifo to write it")),
    # Such handlers remove files and end the process, as a rule. Of a process that was there before it is only known whether a timer of some process
    # of the machine is armed.
    Case("ends", "alarm_handler", ("undecided",), (), ("main", "cleaner"), attached=("undecided", "none"),
         says=("Nothing but a handler of SIGHUP",), attached_says=("a handler of SIGHUP",)),
    either("ends", "event", "main", attached=("undecided",), attached_says=("the kernel, if a program has asked it to signal",)),
    hang("ends", "queue", "main", says=("a descriptor to send to", ", 16 bytes)")),
    hang("ends", "poll_continued", "main", says=("poll(",)),
    hang("ends", "low_stack", "low_reader", "main", attached=("undecided",), attached_says=("Nothing but whatever descriptor",)),
    either("ends", "connect_full", "main", "caller", missed="which listener a connecting socket waits for is not known"),
    hang("between", "flock_parent", "main", "needy", ways=ALL_WAYS),
    stopped("between", "flock_stopped", "needy", others=("main", "holder"), says=("stopped",)),
    hang("between", "flock_cross", "ant", "bee", others=("main",)),
    hang("between", "ofd_cross", "ant", "bee", others=("main",)),
    hang("between", "fcntl_ring", "ring", others=("main",), count=13),
    hang("between", "fcntl_pipe", "main", "fcntl_pipe_child"),
    stopped("between", "stopped_ttou", "leader", others=("main", "background"), says=("SIGTTOU",), ways=ALL_WAYS),
    stopped("between", "pipe_stopped", "main", others=("stopped",), says=("stopped",)),
    stopped("between", "logger_stopped", "server", others=("main", "stopped"), says=("stopped", "which has both ends of the pipe")),
    stopped("between", "pool_own_queue", "only_worker", others=("main",), types=("lost_wakeup", "stall")),
    # Who looks later cannot know what the number meant before the process had other threads.
    hang("between", "mutex_pipe", "reader", "locker", others=("main",), attached=("undecided",),
         attached_says=("Nothing but whatever descriptor", "(another thread may have put something else there since)")),
    hang("between", "mutex_wait4", "spawner", "listens", "locker", others=("main",), ways=ALL_WAYS),
    hang("between", "vfork_child", "main", "child"),
    # Whoever knows their numbers may use them. Only a trace from the start tells that nobody outside of it does.
    Case("between", "sem_gone", ("stall",), ("main",), attached=("undecided",), says=("semtimedop(",), ways=ALL_WAYS,
         attached_says=("semtimedop(", "(number 0, last changed by process", "which has ended)")),
    Case("between", "messages", ("stall",), ("main",), attached=("none",), says=("msgrcv(",),
         attached_says=("msgrcv(", "never sent to; never received from")),
    stopped("between", "sem_named", "main", types=("lost_wakeup", "stall")),
    hang("between", "grandchild_holds_end", "main", "inheritor", "idler"),
    either("tokens.mk", "", "rule", count=2, ways=(ATTACHED, TRACED), target=""),
    # Its threads do not say that they wait: they are known by their names.
    hang("Synchronized", "", ways=(ATTACHED,), target="", names=("ant", "bee")),
]

HEALTHY = [healthy("rests", name, "main", "idle", count=count) for name, count in
           (("sigsuspends", 3), ("sigwaits", 3), ("signal_descriptor", 3), ("epoll_listener", 3), ("timer", 3))]
HEALTHY += [healthy("rests", name, *roles, ways=ALL_WAYS if name == "pool" else WAYS) for name, roles in (
    ("self_pipe", ("main",)), ("self_pipe_read", ("main",)), ("event_handler", ("main",)), ("init", ("main", "accepts")),
    ("holds_for_a_time", ("main", "wants")), ("alarm_lock", ("main", "wants")), ("receive_timeout", ("main", "limited_peer")),
    ("heartbeat", ("main", "heartbeat_peer")), ("heartbeat_select", ("main", "heartbeat_peer")), ("vfork_sleeps", ("main", "child")),
    ("tracer", ("main", "traced")), ("pool", ("main", "idle")), ("spinner", ("main",)), ("datagram", ("main",)), ("udp", ("main",)),
    ("ticks", ("main", "timer_thread")))]
HEALTHY += [healthy("between", "sem_undo", "main", "undoer")]
HEALTHY += [healthy("terminals", name, *roles) for name, roles in
            (("limit", ("main", "asks_for_a_time")), ("service", ("main",)), ("session", ("main", "user", "leader")), ("injected", ("main", "asks_itself", "types")))]
HEALTHY += [healthy("terminals", "stranger_master", "target", "stranger", "asks", ways=(ATTACHED,), target="target"),
            healthy("Child", "later", ways=(TRACED, ATTACHED), target="", child=True)]
# One who is not looked at holds what they need.
HEALTHY += [healthy("rests", "stranger_" + name, "target", "stranger", *more, ways=(ATTACHED,), target="target") for name, more in
            (("pipe", ()), ("socket", ()), ("event", ()), ("in_flight", ()), ("in_flight_too", ()), ("thread_files", ()),
             ("record_lock", ()), ("lock", ("wants",)), ("terminal", ("idle",)), ("reads", ()))]
