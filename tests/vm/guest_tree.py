# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The guest's root file system: this machine's programs and libraries at their own paths, packed as an initramfs."""

import fnmatch
import os
import re
import shlex
import shutil
import stat
import subprocess
from pathlib import Path

from kernels import VmError, modules_of

HERE = Path(__file__).resolve().parent

# What every guest has; programs missing on this machine are left out.
PROGRAMS = """sh bash cat ls wc head tail sort uniq tr cut cp mv rm mkdir mktemp sleep true false env id uname date dd seq tee
touch chmod ln readlink kill timeout nproc stat grep sed awk find xargs""".split()
FILES = ["/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/ld.so.cache"]


class Tree:
    """The guest's root file system, gathered in a folder."""

    def __init__(self, root: Path, leave_out=()):
        self.root = root
        self.leave_out = leave_out  # patterns of folders' names
        self.programs = []  # what was put and may ask for libraries
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
        """A file's content at the target path; the libraries that it asks for at theirs. A link stays one."""
        place = self.inside(target)
        if os.path.lexists(place):
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        real = os.path.realpath(source)
        if os.path.islink(source) and source == target:
            place.symlink_to(real)
            self.put(real, real)
            return
        shutil.copy2(real, place)
        if stat.S_IMODE(os.stat(real).st_mode) & 0o111 or ".so" in os.path.basename(real):
            self.programs.append(real)

    def put_libraries(self) -> None:
        """For all programs, once for each set of libraries that one asks for: ldd follows libraries of libraries."""
        for program, interpreter in self.ask_for_libraries():
            if interpreter:
                self.put(interpreter, interpreter)
            if interpreter and "ld-musl" in interpreter:
                continue  # it is musl's libc too, and ldd is glibc's
            # ldd fails on static programs, which need nothing.
            listed = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
            if "not found" in listed:
                raise VmError(f"{program}: a library is missing on this machine:\n{listed}")
            for path in re.findall(r"(?:=> |^\s*)(/\S+) \(0x", listed, re.MULTILINE):
                self.put(path, path)
        self.programs = []

    def ask_for_libraries(self) -> list:
        """One program, and its interpreter, for each set of libraries and search paths."""
        elf = []
        for program in self.programs:
            with open(program, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    elf.append(program)
        if not elf:
            return []
        # With one file alone, readelf would not name it.
        listed = subprocess.run(["readelf", "--dynamic", "--program-headers", "--wide", elf[0], *elf], text=True, errors="replace",
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        needing = {}
        for part in listed.split("\nFile: ")[1:]:
            program, _, entries = part.partition("\n")
            wanted = tuple(re.findall(r"\((?:NEEDED|RUNPATH|RPATH)\).*|program interpreter: [^]]*", entries))
            interpreter = re.search(r"program interpreter: ([^]]*)", entries)
            if wanted:
                needing.setdefault(wanted, (program, interpreter.group(1) if interpreter else ""))
        return list(needing.values())

    def put_all(self, source: str, target: str) -> None:
        """A file, or a folder with all that is in it."""
        if not os.path.exists(source):
            raise VmError(f"--with {source}: no such file or folder")
        if not os.path.isdir(source):
            self.put(source, target)
            return
        self.inside(target).mkdir(parents=True, exist_ok=True)
        for folder, below, names in os.walk(source):
            below[:] = [name for name in below if not any(fnmatch.fnmatch(name, pattern) for pattern in self.leave_out)]
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    self.put(path, os.path.join(target, os.path.relpath(path, source)))

    def pack(self, image: Path) -> None:
        self.put_libraries()
        names = subprocess.run(["find", ".", "-print0"], cwd=self.root, stdout=subprocess.PIPE, check=True).stdout
        with open(image, "wb") as out:
            done = subprocess.run(
                ["cpio", "--null", "--create", "--quiet", "--format=newc", "--owner=0:0"],
                cwd=self.root, input=names, stdout=out, stderr=subprocess.PIPE,
            )
        if done.returncode:
            raise VmError(f"cpio: {done.stderr.decode(errors='replace').strip()}")


def make_initramfs(work: Path, options, kernel: Path) -> Path:
    tree = Tree(work / "root", getattr(options, "leave_out", ()))
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
    for module in modules_of(kernel):
        tree.put(str(module), f"/modules/{module.name}")
    shutil.copy2(HERE / "guest-init", tree.inside("/init"))
    os.chmod(tree.inside("/init"), 0o755)
    script = "".join(f"export {shlex.quote(text)}\n" for text in options.env)
    script += f"cd {shlex.quote(options.cwd)} || exit 125\nexec {shlex.join(options.command)}\n"
    tree.inside("/command").write_text(script)
    image = work / "initramfs"
    tree.pack(image)
    shutil.rmtree(tree.root)
    return image
