# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What is done with an installed uscope in every root: record, report, diff, deadlock."""
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
HANGS = os.path.join(HERE, "..", "deadlock")


def put_hang(root, *compiler, source="mutexes", name="hang"):
    """Compiles a program that hangs for this root: one of tests/deadlock."""
    subprocess.run([*compiler, "-D_GNU_SOURCE", "-O2", "-pthread", "-o", root.path(f"tmp/{name}"), os.path.join(HANGS, f"{source}.c")], check=True)


def check(condition, what, text):
    if not condition:
        raise AssertionError(f"{what}:\n{text}")


def hang(root, uscope, command):
    """What is said of a command that hangs. It goes on when tracing has ended, but not for long, and not with the pipes of this test: no process
    may have these, or the test waits for it."""
    traced = ["/bin/sh", "-c", f"exec timeout 20 {command} > /dev/null 2>&1"]
    said = root.must(uscope, "record", "--until-stall", "1s", "-o", "/tmp/hang.db", "--", *traced, status=1)
    return said + root.must(uscope, "deadlock", "/tmp/hang.db", status=1)


def use(root, uscope, version, unwind_data=True):
    """Runs uscope in a root that has /bin/sh, cat and ls, with unwind data or without, and /tmp/hang. Raises AssertionError with what was
    said."""
    said = root.must(uscope, "--version")
    check(said == f"uscope {version}\n", "--version", said)
    said = root.must(uscope, "doctor")
    check("can run here" in said, "doctor", said)
    for name, file in (("one", "/etc/passwd"), ("two", "/etc/nowhere")):
        root.must(uscope, "record", "-o", f"/tmp/{name}.db", "--", "/bin/sh", "-c", f"ls / > /dev/null; cat {file}; exit 0")
    said = root.must(uscope, "report", "/tmp/one.db")
    check(re.search(r"(?m)^TRACED +[\d,]+ events .* 3 processes", said), "report", said)
    check("LOST       nothing" in said, "report", said)
    check(not unwind_data or re.search(r"(?m)^STACKS +100 % are complete|^STACKS +9\d\.\d+ % are complete", said), "report's stacks", said)
    done = root.run(uscope, "diff", "--normal", "/tmp/one.db", "--abnormal", "/tmp/two.db")
    said = done.stdout + done.stderr
    check("/etc/nowhere" in said and "ENOENT" in said, "diff", said)
    said = hang(root, uscope, "/tmp/hang abba")
    check("takes" in said and "`ant`" in said and "`bee`" in said, "deadlock", said)
    said = root.must(uscope, "sql", "/tmp/hang.db", "SELECT count(*) > 0 FROM v_event WHERE kind = 'futex'")
    check("1" in said, "sql", said)


def install_tarball(root, tarball):
    """Unpacks it as a user would, under /opt; returns the program's name in the root."""
    os.makedirs(root.path("opt"), exist_ok=True)
    subprocess.run(["tar", "-C", root.path("opt"), "-xJf", tarball], check=True)
    folder = os.path.basename(tarball).removesuffix(".tar.xz")
    return f"/opt/{folder}/bin/uscope"
