#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""scripts/package.sh, and what its packages do to a machine: installed, used, installed over, removed and purged. The machine is this one:
its files under an overlay, which is gone afterwards (debian_roots.py does the same in roots that are empty but for Debian's smallest
system). Needs root, BPF and the headers of Debian's kernel; usage: packages_test.py SOURCE_DIR BUILD VERSION"""
import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

from packages_checks import machine, older
from roots import Overlay, in_own_namespace, new_folder
from using import put_hang, use

SOURCE, BUILD, VERSION = sys.argv[1:4]


class Made:
    """The packages, packed quickly: larger than those that are released."""

    folder = ""


def package(name):
    (found,) = glob.glob(os.path.join(Made.folder, f"{name}_{VERSION}_*.deb"))
    return found


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        Made.folder = new_folder()
        subprocess.run([os.path.join(SOURCE, "scripts", "package.sh"), BUILD, Made.folder], check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | {"USCOPE_XZ_LEVEL": "0"})

    def setUp(self):
        self.root = Overlay("/")
        # man-db looks through all manual pages of this machine each time a package comes or goes.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.root.path("var/lib/man-db/auto-update"))
        self.addCleanup(subprocess.run, ["umount", "--recursive", "--lazy", os.path.dirname(self.root.folder)], check=True)

    def put(self, name, file):
        shutil.copy(file, self.root.path(f"tmp/{name}.deb"))

    def install(self, *names):
        for name in names:
            self.put(name, package(name))
        return self.root.must("dpkg", "--install", *(f"/tmp/{name}.deb" for name in names))

    def test_lintian(self):
        done = subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root", *map(package, ("uscope", "uscope-dkms", "uscope-doc"))],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stdout + done.stderr)

    def test_licences_of_the_pages(self):
        contents = subprocess.run(["dpkg-deb", "--contents", package("uscope")], capture_output=True, text=True, check=True).stdout
        self.assertIn("./usr/share/doc/uscope/npm-packages.gz\n", contents)

    def test_installed_used_and_gone(self):
        before = machine()
        self.put("older", older(package("uscope"), new_folder()))
        self.root.must("dpkg", "--install", "/tmp/older.deb")
        self.install("uscope", "uscope-doc")
        put_hang(self.root, "gcc")
        use(self.root, "/usr/bin/uscope", VERSION)
        for name in ("share/uscope/stap/uscope-stap", "share/doc/uscope/README.Debian", "share/doc/uscope/" "docs/cli.md",
                     "share/bash-completion/completions/uscope"):
            self.assertTrue(glob.glob(self.root.path(f"usr/{name}*")), name)
        self.root.must("dpkg", "--remove", "uscope", "uscope-doc")
        self.assertEqual(self.root.left(), [])
        self.root.must("dpkg", "--purge", "uscope", "uscope-doc")
        self.assertEqual(self.root.left(), [])
        self.assertNotIn("uscope", self.root.must("dpkg-query", "-W", "-f", "${Package}\n"))
        self.assertEqual(machine(), before)

    def test_a_group_that_may_trace(self):
        self.install("uscope")
        self.root.must("useradd", "-m", "tester")
        refused = self.root.run("su", "tester", "-c", "uscope record -o /tmp/tester.db -- /bin/true")
        self.assertNotEqual(refused.returncode, 0)
        with open(self.root.path("usr/share/doc/uscope/README.Debian"), encoding="utf-8") as file:
            commands = re.findall(r"^    ((?:addgroup|dpkg-stat|dpkg-rec|adduser).*)$", file.read().split("To undo", maxsplit=1)[0], re.M)
        self.assertEqual(len(commands), 4, commands)
        for command in commands:
            self.root.must("sh", "-c", command.replace("SOMEBODY", "tester"))
        self.install("uscope")  # an upgrade keeps the choice
        self.assertIn("can run here", self.root.must("su", "tester", "-c", "uscope doctor"))
        self.root.must("su", "tester", "-c", "uscope record -o /tmp/tester.db -- /bin/ls /")
        report = self.root.must("su", "tester", "-c", "uscope report /tmp/tester.db")
        self.assertIn("LOST       nothing", report)
        self.assertRegex(report, r"(?m)^STACKS +(100|9\d\.\d+) % are complete")
        # Others may not even start it.
        self.root.must("useradd", "-m", "other")
        self.assertEqual(self.root.run("su", "other", "-c", "/usr/bin/uscope --version").returncode, 126)
        for user in ("tester", "other"):
            self.root.must("userdel", "-r", user)
        self.root.must("dpkg", "--purge", "uscope")
        self.assertEqual(self.root.left(), [])

    def test_module_by_dkms(self):
        kernels = [os.path.basename(os.path.dirname(path)) for path in glob.glob("/lib/modules/*-amd64/build")]
        self.assertTrue(kernels, "no headers of Debian's kernel: scripts/install-deps.sh test")
        said = self.install("uscope-dkms")
        modules = glob.glob(self.root.path(f"lib/modules/{kernels[-1]}/updates/dkms/uscope.ko*"))
        self.assertEqual(len(modules), 1, said)
        module = modules[0][len(self.root.folder):]
        told = self.root.must("modinfo", module)
        self.assertRegex(told, rf"(?m)^version: +{re.escape(VERSION)}$")
        # By DKMS with the key of the machine, which it makes if there is none.
        self.assertRegex(told, r"(?m)^signer: +DKMS module signing key$")
        self.root.must("dpkg", "--purge", "uscope-dkms")
        key = [f"var/lib/dkms/mok.{kind}" for kind in ("key", "pub")]
        self.assertEqual([name for name in self.root.left() if name not in key and not re.fullmatch(r"lib/modules/[^/]+/modules\..*", name.removeprefix("usr/"))], [])


if __name__ == "__main__":
    in_own_namespace()
    del sys.argv[1:4]
    unittest.main()
