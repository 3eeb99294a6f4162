#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The tarball and the packages in Debian's smallest systems, which are fetched once: the tarball on every release, on this kernel; the
packages on the release for which they were made, installed with apt, used, upgraded, removed and purged; the kernel module that DKMS makes there,
used in a guest with its kernel. Not in CI: it takes minutes, and a gigabyte from Debian's archive. Needs root, BPF, `scripts/install-deps.sh vm`, and what scripts/release.sh and scripts/package.sh have made.
usage: debian_roots.py [SUITE…]"""
import glob
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vm"))
from kernels import mirrors  # noqa: E402
from module import version_of  # noqa: E402
from packages_checks import gone, machine, older  # noqa: E402
from roots import Overlay, call, in_own_namespace, new_folder  # noqa: E402
from using import check, install_tarball, put_hang, use  # noqa: E402

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SUITES = ("bullseye", "bookworm", "trixie", "sid")
ROOTS = os.environ.get("USCOPE_ROOTS", os.path.join(SOURCE, "build", "roots"))
MOST_SECONDS = 60


def version():
    with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"^project\(uscope VERSION ([0-9.]+)", file.read(), re.M).group(1)


def own_suite():
    with open("/etc/os-release", encoding="utf-8") as file:
        return re.search(r"^VERSION_CODENAME=(\w+)", file.read(), re.M).group(1)


def base(suite):
    """The folder of a suite's smallest system."""
    folder = os.path.join(ROOTS, suite)
    if not os.path.isdir(folder):
        os.makedirs(ROOTS, exist_ok=True)
        # A copy of the archive that is not renewed any more has expired, but is signed.
        call("mmdebstrap", "--variant=minbase", "--mode=root", "--aptopt=Acquire::Check-Valid-Until false", suite, folder + ".new")
        os.rename(folder + ".new", folder)
    return folder


class Server:
    """A server on this machine, outside of the root, with something to do."""

    def __enter__(self):
        self.folder = new_folder()
        socket = os.path.join(self.folder, "socket")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--dir", self.folder, "--save", ""], **quiet)
        while not os.path.exists(socket):
            time.sleep(0.05)
        self.load = subprocess.Popen(["timeout", "300", "redis-benchmark", "-s", socket, "-l", "-c", "2", "-t", "set,get", "-q"], **quiet)
        return self

    def __exit__(self, *_):
        for process in (self.load, self.server):
            process.terminate()
            process.wait()


def tarball(suite):
    root = Overlay(base(suite))
    uscope = install_tarball(root, os.path.join(SOURCE, "dist", f"uscope-{version()}-x86_64.tar.xz"))
    put_hang(root, "gcc", "-static")
    use(root, uscope, version())
    libc = root.must("sh", "-c", "dpkg-query -W -f '${Version}' libc6")
    print(f"{suite}: the tarball records, reports, compares and explains a hang (libc6 {libc})", flush=True)


def first_report(root):
    """From a system without uscope to a report of a server that runs."""
    begin = time.monotonic()
    root.must("sh", "-c", "apt-get update -q && apt-get install -y -q --no-install-recommends /tmp/uscope.deb", limit=600)
    installed = time.monotonic()
    root.must("sh", "-c", "timeout -s INT 8 uscope record -o /tmp/server.db --app redis-server; uscope report /tmp/server.db > /tmp/report")
    took = time.monotonic() - begin
    report = root.must("cat", "/tmp/report")
    check(re.search(r"(?m)^TRACED +[\d,]+ events", report) and "redis-server" in report, "report of a server", report)
    print(f"from an empty root to a report of a running server: {took:.0f} s, of which apt took {installed - begin:.0f} s", flush=True)
    check(took <= MOST_SECONDS, "too long", f"{took:.0f} s")


def root_with_network(suite):
    root = Overlay(base(suite))
    with open("/etc/resolv.conf", "rb") as file, open(root.path("etc/resolv.conf"), "wb") as copy:
        copy.write(file.read())
    return root


GUEST = """set -e
busybox insmod /root/uscope.ko
cat /sys/module/uscope/version
uscope record --backend kmod -o /tmp/guest.db -- sh -c 'ls / > /dev/null'
uscope report /tmp/guest.db
busybox rmmod uscope
test ! -e /sys/module/uscope && echo unloaded"""


def module_by_dkms():
    """From a system without a compiler to a module that traces. DKMS signs it with the machine's key, which it makes if there is none."""
    root = root_with_network(own_suite())
    package = glob.glob(os.path.join(SOURCE, "dist", f"uscope-dkms_{version()}_*.deb"))[0]
    call("cp", package, root.path("tmp/uscope-dkms.deb"))
    # Kernels of guests may come from there, too.
    archive = mirrors()
    if "security" in archive:
        with open(root.path("etc/apt/sources.list"), "a", encoding="ascii") as sources:
            sources.write(f"deb {archive['security']} {own_suite()}-security main\n")
    wanted = f"linux-headers-{version_of('6.1')} dkms openssl"
    root.must("sh", "-c", f"apt-get update -q && apt-get install -y -q --no-install-recommends {wanted}", limit=900)
    said = root.must("apt-get", "install", "-y", "--no-install-recommends", "/tmp/uscope-dkms.deb", limit=300)
    modules = glob.glob(root.path("lib/modules/*/updates/dkms/uscope.ko"))
    check(len(modules) == 1, "no module was made", said)
    told = root.must("modinfo", modules[0].removeprefix(root.folder))
    check(f"version:        {version()}" in told and "DKMS module signing key" in told, "modinfo", told)
    program = f"uscope-{version()}-x86_64/bin/uscope"
    work = new_folder()
    call("tar", "-C", work, "-xJf", os.path.join(SOURCE, "dist", f"uscope-{version()}-x86_64.tar.xz"), program)
    put = [f"--with={place}:{name}" for place, name in ((modules[0], "/root/uscope.ko"), (os.path.join(work, program), "/usr/bin/uscope"),
                                                         ("/bin/busybox", "/bin/busybox"))]
    done = subprocess.run([os.path.join(SOURCE, "tests", "vm", "run.sh"), "--kernel", "6.1", *put, "--", "sh", "-c", GUEST],
                          capture_output=True, text=True, check=False)
    check(done.returncode == 0 and done.stdout.startswith(version()) and "LOST       nothing" in done.stdout and "backend kmod" in done.stdout
          and done.stdout.rstrip().endswith("unloaded"), "the module in a guest", done.stdout + done.stderr)
    root.must("apt-get", "install", "-y", "--reinstall", "/tmp/uscope-dkms.deb", limit=300)
    root.must("apt-get", "purge", "-y", "uscope-dkms", limit=300)
    left = glob.glob(root.path("lib/modules/*/updates/dkms/*")) + glob.glob(root.path("usr/src/uscope*")) + glob.glob(root.path("var/lib/dkms/uscope*"))
    check(not left, "files are left", "\n".join(left))
    print(f"{own_suite()}: uscope-dkms made a signed module, which traced in a guest; nothing is left", flush=True)


def packages():
    suite = own_suite()
    root = root_with_network(suite)
    before, programs = machine(), root.must("dpkg-query", "-W", "-f", "${Package} ${Version}\n")
    names = {name: glob.glob(os.path.join(SOURCE, "dist", f"{name}_{version()}_*.deb"))[0] for name in ("uscope", "uscope-doc", "uscope-dkms")}
    for name, file in names.items():
        call("cp", file, root.path(f"tmp/{name}.deb"))
    with Server():
        first_report(root)
    put_hang(root, "gcc", "-static")
    use(root, "/usr/bin/uscope", version())
    call("cp", older(names["uscope"], new_folder()), root.path("tmp/older.deb"))
    root.must("apt-get", "purge", "-y", "uscope")
    root.must("apt-get", "install", "-y", "/tmp/older.deb")
    root.must("apt-get", "install", "-y", "/tmp/uscope.deb", "/tmp/uscope-doc.deb")
    use(root, "/usr/bin/uscope", version())
    root.must("apt-get", "remove", "-y", "--autoremove", "uscope", "uscope-doc")
    root.must("apt-get", "purge", "-y", "--autoremove", "uscope", "uscope-doc")
    check(root.must("dpkg-query", "-W", "-f", "${Package} ${Version}\n") == programs, "packages are left", "")
    left = [name for name in root.left() if name != "etc/resolv.conf"]
    gone(left)
    check(machine() == before, "modules or BPF programs are left", str(machine()))
    print(f"{suite}: the packages were installed with apt, used, upgraded, removed and purged; nothing is left", flush=True)


def main():
    suites = sys.argv[1:] or SUITES
    for suite in suites:
        tarball(suite)
    if own_suite() in suites:
        packages()
        module_by_dkms()


if __name__ == "__main__":
    in_own_namespace()
    main()
