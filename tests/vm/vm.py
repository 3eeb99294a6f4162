#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Runs a command of this machine on another Linux kernel, in an emulated machine.

The guest is Debian's kernel image and an initramfs made anew for each run: this machine's programs and libraries at their own
paths, and guest-init as its first process. Four serial ports carry everything: the kernel's log and the exit status (ttyS0), the
command's output (ttyS1) and errors (ttyS2), and a tar file of the result folder (ttyS3). So no kernel module, disk or network is
needed, and whatever was written before a crash is still seen.

Limits: emulation (TCG) is 10 to 50 times slower than the machine and its clock does not tell what anything costs; no network; the
root file system is a tmpfs, so nothing outlives a run except the result folder.
"""

import argparse
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = "/results"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# Kernel series by the Debian suite whose linux-image-amd64 brings it; "sid" is whatever is newest there.
SUITES = {"6.1": "bookworm", "6.12": "trixie", "sid": "sid"}

EXIT_USAGE = 2
EXIT_KERNEL = 250  # the guest's kernel panicked, oopsed or warned
EXIT_TIME = 251  # the time limit passed
EXIT_HARNESS = 252  # the guest could not be made, or ended without a status

# What every guest has; programs missing on this machine are left out.
PROGRAMS = """sh bash cat ls wc head tail sort uniq tr cut cp mv rm mkdir mktemp sleep true false env id uname date dd seq tee
touch chmod ln readlink kill timeout nproc stat grep sed awk find xargs""".split()
FILES = ["/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/ld.so.cache"]

# A kernel's own words for "something is wrong in me".
KERNEL_TROUBLE = re.compile(
    r"Kernel panic|\bOops\b|\bBUG: |general protection fault, |kernel NULL pointer|unable to handle page fault"
    r"|\bWARNING: .*\bat |soft lockup|hard LOCKUP|self-detected stall|detected stalls on|blocked for more than"
    r"|\bKASAN\b|\bUBSAN\b|possible circular locking|suspicious RCU usage|scheduling while atomic|sleeping function called"
)
STATUS_LINE = re.compile(r"uscope-vm-exit: (\d+)")


class VmError(Exception):
    """The guest could not be made."""


def cache_folder() -> Path:
    base = os.environ.get("USCOPE_VM_CACHE")
    if base:
        return Path(base)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "uscope-vm"


def run_quiet(command, **options) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode:
        raise VmError(f"{shlex.join(map(str, command))}: exit {done.returncode}: {done.stderr.strip()[-800:]}")
    return done.stdout


# --- The kernel ---------------------------------------------------------------------------------------------------------------


def mirrors() -> dict:
    """Debian's main and security archive as this machine's apt is set up to reach them."""
    found = {}
    if os.environ.get("USCOPE_VM_MIRROR"):
        found["main"] = os.environ["USCOPE_VM_MIRROR"]
    listed = run_quiet(["apt-get", "indextargets", "--format", "$(ORIGIN) $(LABEL) $(REPO_URI)", "Created-By: Packages"])
    for line in listed.splitlines():
        if line.startswith("Debian Debian-Security "):
            found.setdefault("security", line.rsplit(" ", 1)[1])
        elif line.startswith("Debian Debian "):
            found.setdefault("main", line.rsplit(" ", 1)[1])
    if "main" not in found:
        raise VmError("apt knows no archive of Debian here (is `apt-get update` done?); USCOPE_VM_MIRROR=URL names one")
    return found


def apt_options(suite: str, cache: Path) -> list:
    """apt with lists of its own: what this machine has installed, and its sources, stay as they are."""
    state = cache / "apt" / suite
    for folder in ("lists/partial", "archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    archive = mirrors()
    lines = [f"deb [signed-by={KEYRING}] {archive['main']} {suite} main\n"]
    if suite != "sid" and "security" in archive:
        lines.append(f"deb [signed-by={KEYRING}] {archive['security']} {suite}-security main\n")
    (state / "sources.list").write_text("".join(lines))
    settings = {
        "Dir::Etc::sourcelist": state / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State": state,
        "Dir::State::lists": state / "lists",
        "Dir::State::status": state / "status",
        "Dir::Cache": state,
        "Dir::Cache::archives": state / "archives",
        "APT::Architecture": "amd64",
        "Acquire::Languages": "none",
        "APT::Sandbox::User": "root",
    }
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def image_package(options: list) -> str:
    """The package that linux-image-amd64 brings and that holds vmlinuz: until 6.12 the image, later the one it depends on."""
    package = "linux-image-amd64"
    for kind in ("image", "binary"):
        depends = run_quiet(["apt-cache", *options, "depends", package])
        found = re.search(rf"Depends: (linux-{kind}-[0-9]\S*)", depends)
        if found:
            package = found.group(1)
    if package == "linux-image-amd64":
        raise VmError(f"linux-image-amd64 depends on no kernel image: {depends.strip()}")
    return package


def fetch_kernel(series: str, cache: Path, folder: Path) -> None:
    if series not in SUITES:
        raise VmError(f"kernel {series} is not known; known are {', '.join(SUITES)}, or give the path of a vmlinuz")
    options = apt_options(SUITES[series], cache)
    run_quiet(["apt-get", *options, "-q", "update"])
    package = image_package(options)
    with tempfile.TemporaryDirectory(dir=cache) as work:
        run_quiet(["apt-get", *options, "-q", "download", package], cwd=work)
        deb = next(Path(work).glob("*.deb"))
        run_quiet(["dpkg-deb", "-x", str(deb), f"{work}/tree"])
        images = list(Path(work).glob("tree/boot/vmlinuz-*")) or list(Path(work).glob("tree/usr/lib/modules/*/vmlinuz"))
        if not images:
            raise VmError(f"{deb.name} holds no vmlinuz")
        # The modules and the packed file are some 400 MB that nothing here needs.
        ready = Path(work) / "ready"
        ready.mkdir()
        shutil.copy2(images[0], ready / "vmlinuz")
        (ready / "package").write_text(f"{deb.name}\n")
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(ready, folder)


def kernel_image(kernel: str, refresh: bool) -> Path:
    if "/" in kernel:
        if not Path(kernel).is_file():
            raise VmError(f"{kernel}: no such kernel image")
        return Path(kernel)
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"kernel-{kernel}"
    if refresh or not (folder / "vmlinuz").is_file():
        print(f"uscope-vm: fetching Debian's kernel {kernel} into {folder}", file=sys.stderr)
        fetch_kernel(kernel, cache, folder)
    return folder / "vmlinuz"


# --- The initramfs ------------------------------------------------------------------------------------------------------------


class Tree:
    """The guest's root file system, gathered in a folder."""

    def __init__(self, root: Path):
        self.root = root
        for folder in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "proc", "sys", "dev", "tmp", "run", "root", "etc"):
            (root / folder).mkdir(parents=True)
        # As on this machine: with merged /usr, or libraries would be mapped from other paths than here.
        for name in ("bin", "sbin", "lib", "lib64"):
            if os.path.islink(f"/{name}"):
                (root / name).symlink_to(f"usr/{name}")
            else:
                (root / name).mkdir()

    def inside(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def put(self, source: str, target: str) -> None:
        """A file's content at the target path; the libraries that it asks for at theirs."""
        place = self.inside(target)
        if place.exists() and not place.is_dir():
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(os.path.realpath(source), place)
        if stat.S_IMODE(os.stat(source).st_mode) & 0o111 or ".so" in os.path.basename(source):
            self.put_libraries(source)

    def put_libraries(self, source: str) -> None:
        with open(os.path.realpath(source), "rb") as file:
            if file.read(4) != b"\x7fELF":
                return
        # ldd fails on static programs, which need nothing.
        listed = subprocess.run(["ldd", source], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        if "not found" in listed:
            raise VmError(f"{source}: a library is missing on this machine:\n{listed}")
        for path in re.findall(r"(?:=> |^\s*)(/\S+) \(0x", listed, re.MULTILINE):
            self.put(path, path)

    def put_all(self, source: str, target: str) -> None:
        """A file, or a folder with all that is in it."""
        if not os.path.exists(source):
            raise VmError(f"--with {source}: no such file or folder")
        if not os.path.isdir(source):
            self.put(source, target)
            return
        self.inside(target).mkdir(parents=True, exist_ok=True)
        for folder, _, names in os.walk(source):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    self.put(path, os.path.join(target, os.path.relpath(path, source)))

    def pack(self, image: Path) -> None:
        names = subprocess.run(["find", ".", "-print0"], cwd=self.root, stdout=subprocess.PIPE, check=True).stdout
        with open(image, "wb") as out:
            done = subprocess.run(
                ["cpio", "--null", "--create", "--quiet", "--format=newc", "--owner=0:0"],
                cwd=self.root, input=names, stdout=out, stderr=subprocess.PIPE,
            )
        if done.returncode:
            raise VmError(f"cpio: {done.stderr.decode(errors='replace').strip()}")


def make_initramfs(work: Path, options) -> Path:
    tree = Tree(work / "root")
    busybox = shutil.which("busybox")
    if not busybox:
        raise VmError("busybox is missing (package busybox-static)")
    tree.put(busybox, "/usr/bin/busybox")
    for name in PROGRAMS:
        path = shutil.which(name)
        if path:
            tree.put(path, path)
    for path in FILES:
        if os.path.exists(path):
            tree.put(path, path)
    for entry in options.with_:
        source, _, target = entry.partition(":")
        found = source if os.path.exists(source) else shutil.which(source) or source
        found = os.path.abspath(found)
        tree.put_all(found, target or found)
    shutil.copy2(HERE / "guest-init", tree.inside("/init"))
    os.chmod(tree.inside("/init"), 0o755)
    script = "".join(f"export {shlex.quote(text)}\n" for text in options.env)
    script += f"cd {shlex.quote(options.cwd)} || exit 125\nexec {shlex.join(options.command)}\n"
    tree.inside("/command").write_text(script)
    image = work / "initramfs"
    tree.pack(image)
    shutil.rmtree(tree.root)
    return image


# --- The run ------------------------------------------------------------------------------------------------------------------


def qemu_command(kernel: Path, initramfs: Path, work: Path, options) -> list:
    words = [
        # Never KVM: the result must not hang on what the machine below offers. One thread for all processors: with one for each,
        # code that the kernel patches while it runs (static keys, tracepoints) may reach another processor half done, as an
        # "Oops: int3" that no real machine has.
        "qemu-system-x86_64", "-accel", "tcg,thread=single", "-cpu", "max", "-smp", str(options.cpus), "-m", str(options.memory),
        "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none", "-no-reboot",
        "-kernel", str(kernel), "-initrd", str(initramfs),
        # No mitigations: emulation pays for them and guards nothing. A panic ends the machine, and an oops is one.
        "-append", f"console=ttyS0 mitigations=off panic=-1 oops=panic quiet loglevel=5 nokaslr {options.append}".strip(),
    ]
    for port in ("console", "stdout", "stderr", "results"):
        words += ["-chardev", f"file,id={port},path={work / port}", "-serial", f"chardev:{port}"]
    return words


class Follower:
    """Hands on what a file has grown by."""

    def __init__(self, path: Path, out):
        self.path, self.out, self.place = path, out, 0

    def step(self) -> None:
        if not self.path.exists():
            return
        with open(self.path, "rb") as file:
            file.seek(self.place)
            new = file.read()
        self.place += len(new)
        if new and self.out:
            self.out.write(new)
            self.out.flush()


def run_guest(command: list, work: Path, options) -> bool:
    """False: the time limit passed, and the guest was ended."""
    followers = [Follower(work / "stdout", sys.stdout.buffer), Follower(work / "stderr", sys.stderr.buffer)]
    if options.console:
        followers.append(Follower(work / "console", sys.stderr.buffer))
    deadline = time.monotonic() + options.time
    guest = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        while guest.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
            for follower in followers:
                follower.step()
        ended = guest.poll() is not None
    finally:
        if guest.poll() is None:
            guest.kill()
        guest.wait()
    for follower in followers:
        follower.step()
    return ended


def take_results(packed: Path, folder: str) -> None:
    if not packed.exists() or not packed.stat().st_size:
        raise VmError("the guest sent no results")
    os.makedirs(folder, exist_ok=True)
    try:
        with tarfile.open(packed) as tar:
            for member in tar.getmembers():
                # What the guest says is not trusted with this machine's paths.
                place = os.path.normpath(member.name)
                if member.isdir() or (member.isfile() and not place.startswith(("/", ".."))):
                    if member.isfile():
                        target = os.path.join(folder, place)
                        os.makedirs(os.path.dirname(target), exist_ok=True)
                        with tar.extractfile(member) as source, open(target, "wb") as out:
                            shutil.copyfileobj(source, out)
    except tarfile.TarError as error:
        raise VmError(f"the results came back damaged: {error}") from error


def judge(work: Path, ended: bool, options) -> int:
    console = (work / "console").read_text(errors="replace") if (work / "console").exists() else ""
    trouble = [line.strip() for line in console.splitlines() if KERNEL_TROUBLE.search(line)]
    status = STATUS_LINE.search(console)
    if trouble or not ended or not status:
        print("uscope-vm: last lines of the guest's console:", file=sys.stderr)
        print("\n".join(console.splitlines()[-40:]), file=sys.stderr)
    if trouble:
        print(f"uscope-vm: the guest's kernel is in trouble: {trouble[0]}", file=sys.stderr)
        return EXIT_KERNEL
    if not ended:
        print(f"uscope-vm: not done after {options.time} s", file=sys.stderr)
        return EXIT_TIME
    if not status:
        print("uscope-vm: the guest ended without an exit status", file=sys.stderr)
        return EXIT_HARNESS
    return int(status.group(1))


def parse(arguments: list):
    parser = argparse.ArgumentParser(
        prog="run.sh", description="Runs a command of this machine on another Linux kernel, in an emulated machine.",
        epilog=f"The exit status is the command's; {EXIT_KERNEL}: the kernel is in trouble, {EXIT_TIME}: time limit,"
        f" {EXIT_HARNESS}: no guest.")
    parser.add_argument("--kernel", default="6.1", help=f"{', '.join(SUITES)} (Debian's), or the path of a vmlinuz [6.1]")
    parser.add_argument("--with", dest="with_", metavar="PATH[:TARGET]", action="append", default=[],
                        help="a program, file or folder the guest needs, with its libraries; repeatable")
    parser.add_argument("--env", metavar="NAME=VALUE", action="append", default=[], help="for the command; repeatable")
    parser.add_argument("--cwd", default="/root", help="the command's working folder in the guest [/root]")
    parser.add_argument("--results", metavar="FOLDER", help=f"where the files of the guest's {RESULTS} go")
    parser.add_argument("--time", type=int, default=180, help="limit in seconds [180]")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--memory", default="2G", help="the guest's memory [2G]")
    parser.add_argument("--append", default="", help="more words for the kernel's command line")
    parser.add_argument("--console", action="store_true", help="show the kernel's log while it runs")
    parser.add_argument("--refresh", action="store_true", help="fetch the kernel anew")
    parser.add_argument("command", nargs="*", metavar="-- COMMAND")
    # All behind the first -- is the command's own, also a further --.
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:split])
    options.command += arguments[split + 1:]
    if not options.command:
        parser.error("no command")
    return options


def main(arguments: list) -> int:
    options = parse(arguments)
    for tool, package in (("qemu-system-x86_64", "qemu-system-x86"), ("cpio", "cpio"), ("dpkg-deb", "dpkg")):
        if not shutil.which(tool):
            print(f"uscope-vm: {tool} is missing (package {package})", file=sys.stderr)
            return EXIT_HARNESS
    with tempfile.TemporaryDirectory(prefix="uscope-vm-") as name:
        work = Path(name)
        try:
            kernel = kernel_image(options.kernel, options.refresh)
            initramfs = make_initramfs(work, options)
            ended = run_guest(qemu_command(kernel, initramfs, work, options), work, options)
            status = judge(work, ended, options)
            if options.results and status not in (EXIT_KERNEL, EXIT_TIME, EXIT_HARNESS):
                take_results(work / "results", options.results)
            return status
        except VmError as error:
            print(f"uscope-vm: {error}", file=sys.stderr)
            return EXIT_HARNESS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
