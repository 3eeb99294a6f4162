#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Compiles the kernel module (kmod/), or another one that builds on it, for a kernel that run.sh boots: with the headers of the same version, in a folder of that
Debian suite made by debootstrap, since the headers' tools need that suite's libc and compiler. Where this machine has those headers
installed, it is done here. Needs root for the folder (chroot)."""

import argparse
import hashlib
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from guest_tree import HERE
from kernels import KEYRING, SUITES, VmError, cache_folder, compiled, kernel_image, mirrors, run_quiet


def package_of(series: str) -> str:
    """The name of the package that holds the image."""
    return (kernel_image(series, False).parent / "package").read_text().strip()


def version_of(series: str) -> str:
    """6.1.0-56-amd64, from the package's name."""
    package = package_of(series)
    found = re.match(r"linux-(?:image|binary)-([^_]+)_", package)
    if not found:
        raise VmError(f"no kernel version in {package}")
    return found.group(1)


def headers_of(version: str) -> Path:
    return Path(f"/usr/src/linux-headers-{version}")


def tools(version: str) -> str:
    """What compiles for this version of a kernel, and with which headers: a package may change and keep the version in its name."""
    headers = headers_of(version)
    if not headers.exists():
        return ""  # in a Debian of its own
    packages = [headers.name, headers.name.removesuffix("-amd64") + "-common"]
    return run_quiet(["dpkg-query", "--show", *packages]) + run_quiet(["gcc", "--version"])


def suite_root(suite: str) -> Path:
    """A small Debian of that suite with make and apt's lists, made once."""
    root = cache_folder() / f"root-{suite}"
    if (root / "ready").exists():
        return root
    if os.geteuid() != 0:
        raise VmError(f"{root} must be made by root (debootstrap)")
    if not shutil.which("debootstrap", path=os.environ.get("PATH", "") + ":/usr/sbin"):
        raise VmError("debootstrap is missing (package debootstrap)")
    print(f"uscope-vm: making {root} with debootstrap", file=sys.stderr)
    shutil.rmtree(root, ignore_errors=True)
    archive = mirrors()
    run_quiet(["/usr/sbin/debootstrap", "--variant=minbase", f"--keyring={KEYRING}", "--include=make,ca-certificates", suite, str(root), archive["main"]])
    lines = [f"deb {archive['main']} {suite} main\n"]
    if suite != "sid" and "security" in archive:
        lines.append(f"deb {archive['security']} {suite}-security main\n")
    (root / "etc/apt/sources.list").write_text("".join(lines))
    (root / "ready").touch()
    return root


def in_root(root: Path, *command: str) -> str:
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
    for name in ("http_proxy", "https_proxy", "no_proxy"):
        if name in os.environ:
            environment[name] = os.environ[name]
    # /proc, in a mount namespace of its own: objtool of recent kernels asks it for its stack's limit.
    script = 'mount -t proc proc "$0/proc" && exec /usr/sbin/chroot "$0" "$@"'
    return run_quiet(["unshare", "--mount", "sh", "-c", script, str(root), *command], env=environment)


def apt_settings() -> list:
    """How this machine's apt reaches the archive. A mirror may be a frozen copy: its signature counts, not its age."""
    options = ["-o", "Acquire::Check-Valid-Until=false"]
    for line in run_quiet(["apt-config", "dump", "--format", "%f=%v%n"]).splitlines():
        if re.match(r"Acquire::(https?::)?(Proxy|Retries|Timeout)\b", line, re.IGNORECASE):
            options += ["-o", line]
    return options


def put_source(source: Path, target: Path, folder: str) -> None:
    """What the module is made of."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for folder in dict.fromkeys(("kmod", "include", folder)):
        shutil.copytree(source / folder, target / folder, ignore=shutil.ignore_patterns("*.o", "*.ko", "*.cmd", "*.mod", "*.mod.c"))
    shutil.copy2(source / "CMakeLists.txt", target)


def make_commands(tree: str, kdir: str, folder: str) -> list:
    """kmod comes first: others may use what it exports."""
    commands = [["make", "-C", f"{tree}/kmod", f"KDIR={kdir}"]]
    if folder != "kmod":
        commands.append(["make", "-C", kdir, f"M={tree}/{folder}", f"KBUILD_EXTRA_SYMBOLS={tree}/kmod/Module.symvers", "modules"])
    return commands


def made(tree: Path, folder: str) -> Path:
    modules = list((tree / folder).glob("*.ko"))
    if len(modules) != 1:
        raise VmError(f"{folder} gave {len(modules)} modules, not one")
    return modules[0]


def build_in_root(series: str, version: str, source: Path, folder: str) -> Path:
    root = suite_root(SUITES[series])
    headers = f"/usr/src/linux-headers-{version}"
    if not (root / headers.lstrip("/")).exists():
        options = apt_settings()
        in_root(root, "apt-get", *options, "-q", "update")
        in_root(root, "apt-get", *options, "-q", "-y", "--no-install-recommends", "install", f"linux-headers-{version}")
    put_source(source, root / "uscope", folder)
    for command in make_commands("/uscope", headers, folder):
        in_root(root, *command)
    return made(root / "uscope", folder)


def digest(source: Path, folder: str) -> str:
    """Of all of the source tree that the module is made of."""
    whole = hashlib.sha256(folder.encode())
    parts = [path for part in dict.fromkeys(("kmod", "include", folder)) for path in (source / part).rglob("*") if path.is_file()]
    for path in sorted([source / "CMakeLists.txt", *parts]):
        whole.update(f"\0{path.relative_to(source)}\0".encode() + path.read_bytes())
    return whole.hexdigest()


def build_here(kdir: str, source: Path, output: Path, folder: str) -> None:
    with tempfile.TemporaryDirectory() as work:
        tree = Path(work) / "uscope"
        put_source(source, tree, folder)
        for command in make_commands(str(tree), kdir, folder):
            run_quiet(command)
        shutil.copy2(made(tree, folder), output)


def build(series: str, source: Path, output: Path, folder: str = "kmod") -> None:
    """Made once of the same sources for the same kernel: several tests need it."""
    version = version_of(series)
    headers = headers_of(version)
    with compiled(f"module-{version}", digest(source, folder), package_of(series), tools(version), Path(__file__).read_text()) as folder_of_it:
        kept = folder_of_it / "module.ko"
        if not kept.exists():
            folder_of_it.mkdir(exist_ok=True)
            new = kept.with_suffix(".new")
            if headers.exists():
                build_here(str(headers), source, new, folder)
            else:
                shutil.copy2(build_in_root(series, version, source, folder), new)
            new.rename(kept)
        shutil.copy2(kept, output)


def main() -> int:
    parser = argparse.ArgumentParser(prog="module.py", description=__doc__.split(":", maxsplit=1)[0])
    parser.add_argument("--kernel", default="6.1", choices=list(SUITES))
    parser.add_argument("--kdir", default="", help="a kernel's build folder, in place of --kernel's headers")
    parser.add_argument("--source", type=Path, default=HERE.parent.parent, help="the source tree [this one]")
    parser.add_argument("--folder", default="kmod", help="the module's folder in the source tree [kmod]")
    parser.add_argument("-o", "--output", type=Path, default=Path("uscope.ko"))
    options = parser.parse_args()
    try:
        if options.kdir:
            build_here(options.kdir, options.source, options.output, options.folder)
        else:
            build(options.kernel, options.source, options.output, options.folder)
    except (VmError, OSError) as error:
        print(f"uscope-vm: the module for kernel {options.kernel}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
