# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What the tests of packages look at before and after."""
import os
import subprocess


def machine():
    """What a package might leave in the kernel: modules, and BPF programs with uscope's name."""
    modules = [name for name in os.listdir("/sys/module") if name.startswith("uscope")]
    programs = subprocess.run(["bpftool", "prog", "show"], capture_output=True, text=True, check=True).stdout
    return modules, [line for line in programs.splitlines() if "uscope" in line]


def older(package, work):
    """A package with the same files and a lower version."""
    folder, made = os.path.join(work, "older"), os.path.join(work, "older.deb")
    subprocess.run(["dpkg-deb", "-R", package, folder], check=True)
    control = os.path.join(folder, "DEBIAN", "control")
    with open(control, encoding="utf-8") as file:
        lines = file.readlines()
    with open(control, "w", encoding="utf-8") as file:
        file.writelines("Version: 0.0.1\n" if line.startswith("Version:") else line for line in lines)
    subprocess.run(["dpkg-deb", "-Zgzip", "-z1", "-b", folder, made], check=True, stdout=subprocess.DEVNULL)
    return made


def gone(left):
    if left:
        raise AssertionError("files are left, or are not as they were:\n" + "\n".join(left))
