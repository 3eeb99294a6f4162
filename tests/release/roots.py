# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Roots of file systems in which the tests of releases install and use uscope. Everything is mounted in a mount namespace of the test's own
(`in_own_namespace`), and is gone when it ends, however it ends."""
import os
import resource
import shutil
import stat
import subprocess
import sys
import tempfile

MARK = "USCOPE_TEST_ROOTS"
# What the package manager keeps for itself: lists, logs, caches and backups that stay when a package goes.
KEPT = ("var/lib/dpkg/", "var/log/", "var/cache/", "var/lib/apt/", "etc/ld.so.cache", "etc/passwd-", "etc/group-", "etc/shadow-", "etc/gshadow-",
        "etc/subuid-", "etc/subgid-", "var/lib/systemd/", "var/lib/man-db/auto-update", "tmp/", "root/", "run/")


def in_own_namespace():
    """Runs this program again in a mount namespace of its own, unless it is there, and ends with its status. Folders that it makes (`new_folder`)
    are removed out here, where nothing is mounted in them: a removal in there would go on into this machine's /proc, /sys and /dev."""
    if MARK in os.environ:
        return
    with tempfile.TemporaryDirectory(prefix="uscope-roots-") as folder:
        done = subprocess.run(["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv], check=False,
                              env=os.environ | {MARK: folder})
    sys.exit(done.returncode)


def new_folder():
    return tempfile.mkdtemp(dir=os.environ[MARK])


def call(*command, **more):
    return subprocess.run(command, check=True, **more)


class Root:
    """A folder as the root of a file system, with this machine's /proc, /sys and /dev."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("proc", "sys", "dev", "tmp"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        for name in ("proc", "sys", "dev"):
            call("mount", "--rbind", f"/{name}", os.path.join(folder, name))

    def path(self, name):
        return os.path.join(self.folder, name.lstrip("/"))

    def run(self, *command, env=None, limit=300, **more):
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C", "TERM": "dumb",
                       "DEBIAN_FRONTEND": "noninteractive", **(env or {})}
        return subprocess.run(["chroot", self.folder, *command], capture_output=True, text=True, errors="replace", timeout=limit, check=False,
                              env=environment, **more)

    def must(self, *command, status=0, **more):
        """The output of a command that must end with this status."""
        done = self.run(*command, **more)
        if done.returncode != status:
            raise AssertionError(f"{' '.join(command)} in {self.folder}: status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
        return done.stdout


class Overlay(Root):
    """A root that shows the files of another one. What is changed lies in memory, in the folder `changes`."""

    def __init__(self, lower, size="4g"):
        self.lower = lower
        work = new_folder()
        call("mount", "-t", "tmpfs", "-o", f"size={size}", "none", work)
        self.changes = os.path.join(work, "changes")
        for name in ("changes", "work", "root"):
            os.mkdir(os.path.join(work, name))
        # What other uscopes of this machine keep is not there: a folder that is changed from below cannot be removed.
        os.makedirs(os.path.join(self.changes, "var/cache"))
        os.mknod(os.path.join(self.changes, "var/cache/uscope"), stat.S_IFCHR, os.makedev(0, 0))
        folder = os.path.join(work, "root")
        call("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={lower},upperdir={self.changes},workdir={os.path.join(work, 'work')}", folder)
        super().__init__(folder)

    def left(self):
        """The names of files that are there and were not, or are not as they were, or are gone."""
        found = []
        for place, folders, names in os.walk(self.changes):
            for name in folders + names:
                path = os.path.join(place, name)
                inside = os.path.relpath(path, self.changes)
                if inside.startswith(KEPT) or inside + "/" in KEPT:
                    continue
                if not same(path, os.path.join(self.lower, inside)):
                    found.append(inside)
        return sorted(found)


def same(path, other):
    if not os.path.lexists(other):
        return False
    one, two = os.lstat(path), os.lstat(other)
    if (one.st_mode, one.st_uid, one.st_gid) != (two.st_mode, two.st_uid, two.st_gid):
        return False
    if stat.S_ISLNK(one.st_mode):
        return os.readlink(path) == os.readlink(other)
    if not stat.S_ISREG(one.st_mode):
        return True
    with open(path, "rb") as first, open(other, "rb") as second:
        return first.read() == second.read()


def small_root():
    """A root with nothing but busybox, which is linked statically, and musl's C library for programs that are not: as Alpine's."""
    folder = new_folder()
    os.chmod(folder, 0o755)
    for name in ("bin", "lib"):
        os.mkdir(os.path.join(folder, name))
    shutil.copy("/bin/busybox", os.path.join(folder, "bin"))
    shutil.copy("/usr/lib/x86_64-linux-musl/libc.so", os.path.join(folder, "lib", "ld-musl-x86_64.so.1"))
    root = Root(folder)
    root.must("/bin/busybox", "--install", "-s", "/bin")
    os.makedirs(root.path("etc"))
    with open(root.path("etc/passwd"), "w", encoding="ascii") as file:
        file.write("root:x:0:0:root:/:/bin/sh\nworker:x:1234:1235:worker:/tmp:/bin/sh\n")
    with open(root.path("etc/group"), "w", encoding="ascii") as file:
        file.write("root:x:0:\nworker:x:1235:\nhelpers:x:1236:root,worker\n")
    os.chmod(root.path("tmp"), 0o1777)
    return root


def least_cpu(action, tries=5):
    """The seconds of processor time that the processes of an action take, the least of some tries."""
    times = []
    for _ in range(tries):
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        action()
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime)
    return min(times)
