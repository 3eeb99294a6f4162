# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Debian's kernels of several suites, fetched with apt from the archive that this machine's own apt uses."""

import contextlib
import fcntl
import hashlib
import lzma
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

IMAGE = "kernel"  # a fetched kernel's file in its folder
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# Kernel series by the Debian suite whose linux-image-amd64 brings it; "sid" is whatever is newest there.
SUITES = {"6.1": "bookworm", "6.12": "trixie", "sid": "sid"}
# Debian's modules that guests have. By these a kernel lists its sockets, and would load them by itself where there is modprobe: each
# guest loads them, in this order, where they are not built in.
LISTS_OF_SOCKETS = ("inet_diag", "tcp_diag", "unix_diag")
# Those that a test loads: without dependencies.
MODULES = ("binfmt_misc",)
DAYS_KEPT = 30  # what is compiled for a kernel, since it was last needed


class VmError(Exception):
    """The guest could not be made."""


def users_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "uscope-vm"


def cache_folder() -> Path:
    return Path(os.environ.get("USCOPE_VM_CACHE") or users_folder())


@contextlib.contextmanager
def compiled(name: str, *made_of: str):
    """A folder for what is compiled of these texts, which is there or not, and locked: two tests may need it at once. All checkouts share
    it. What has not been needed for long is dropped. The lock's time says when that was: SystemTap looks at the folder's own."""
    whole = users_folder() / "compiled"
    whole.mkdir(parents=True, exist_ok=True)
    name = f"{name}-{hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]}"
    with open(whole / f"{name}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.utime(lock.fileno())
        for old in whole.glob("*.lock"):
            if old.stat().st_mtime < time.time() - DAYS_KEPT * 86400:
                shutil.rmtree(old.with_suffix(""), ignore_errors=True)
        yield whole / name


def run_quiet(command, **options) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode:
        raise VmError(f"{shlex.join(map(str, command))}: exit {done.returncode}: {done.stderr.strip()[-800:]}")
    return done.stdout


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
        # A mirror may be a frozen copy: its signature counts, not its age.
        "Acquire::Check-Valid-Until": "false",
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


def unpacked(image: bytes) -> bytes:
    """What a bzImage has packed, which QEMU boots as well (PVH): a guest takes three seconds to unpack it. The image as it is, where it is
    not packed by xz. Source: Linux, Documentation/arch/x86/boot.rst."""
    setup_sectors = image[0x1F1]
    offset, length = struct.unpack_from("<II", image, 0x248)
    packed = image[(setup_sectors + 1) * 512 + offset:][:length]
    if image[0x202:0x206] != b"HdrS" or not packed.startswith(b"\xfd7zXZ\0"):
        return image
    return lzma.LZMADecompressor().decompress(packed)  # behind it stands the size


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
        # The other modules and the packed file are some 400 MB that nothing here needs.
        ready = Path(work) / "ready"
        (ready / "modules").mkdir(parents=True)
        (ready / IMAGE).write_bytes(unpacked(images[0].read_bytes()))
        for name in (*LISTS_OF_SOCKETS, *MODULES):
            keep_module(Path(work) / "tree", name, ready / "modules")
        (ready / "package").write_text(f"{deb.name}\n")
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(ready, folder)


def keep_module(tree: Path, name: str, folder: Path) -> None:
    """Unpacked: what loads modules in the guest unpacks none. Where the package has none, the file is empty: a kernel may have it built in,
    or in a package of its own."""
    found = [path for path in tree.rglob(f"{name}.ko*") if path.suffix in (".ko", ".xz")]
    content = found[0].read_bytes() if found else b""
    (folder / f"{name}.ko").write_bytes(lzma.decompress(content) if found and found[0].suffix == ".xz" else content)


def modules_of(image: Path) -> list:
    """The modules that a guest with this image loads, in order; none of a kernel that was not fetched."""
    files = [image.parent / "modules" / f"{name}.ko" for name in LISTS_OF_SOCKETS]
    return [file for file in files if file.is_file() and file.stat().st_size > 0]


def kernel_image(kernel: str, refresh: bool) -> Path:
    if "/" in kernel:
        if not Path(kernel).is_file():
            raise VmError(f"{kernel}: no such kernel image")
        return Path(kernel)
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"kernel-{kernel}"
    with open(cache / f"kernel-{kernel}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two tests may need it at once
        # An earlier version kept other modules, or none.
        kept = [folder / "modules" / f"{name}.ko" for name in (*LISTS_OF_SOCKETS, *MODULES)]
        if refresh or not all(file.is_file() for file in (folder / IMAGE, *kept)):
            print(f"uscope-vm: fetching Debian's kernel {kernel} into {folder}", file=sys.stderr)
            fetch_kernel(kernel, cache, folder)
    return folder / IMAGE


def kernel_module(kernel: str, name: str) -> Path:
    """One of MODULES of a kernel of SUITES."""
    path = kernel_image(kernel, False).parent / "modules" / f"{name}.ko"
    if not path.is_file() or not path.stat().st_size:
        raise VmError(f"kernel {kernel} has no module {name} here")
    return path
