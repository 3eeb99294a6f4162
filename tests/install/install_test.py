#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Installs a build into a temporary prefix and uses the installed program there. Needs root, BPF and strace;
usage: install_test.py CMAKE BUILD_DIR VERSION [FILTER]"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS, SLOWNESS  # noqa: E402

CMAKE, BUILD, VERSION = (sys.argv.pop(1) for _ in range(3)) if len(sys.argv) > 3 else ("cmake", "build/release", "")
LIMIT = 60 * SLOWNESS
# A call of strace's log that made or changed a file: its name, or two of them.
MADE = re.compile(r"^\d+ +(?:openat\(AT_FDCWD, \"(?P<open>[^\"]+)\", [^)]*O_CREAT"
                  r"|(?:mkdir|rmdir|unlink|truncate|chmod)\(\"(?P<one>[^\"]+)\""
                  r"|(?:rename|link|symlink)\(\"(?P<old>[^\"]+)\", \"(?P<new>[^\"]+)\")")


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="uscope-install-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = os.path.join(cls.folder, "prefix")
        cls.program = os.path.join(cls.prefix, "bin", "uscope")
        cls.log = os.path.join(cls.folder, "strace.log")
        cls.installed = subprocess.run(
            ["strace", "-f", "-z", "-s", "4096", "-o", cls.log, "-e", "trace=openat,mkdir,rmdir,unlink,truncate,chmod,rename,link,symlink",
             CMAKE, "--install", BUILD, "--prefix", cls.prefix], capture_output=True, text=True, timeout=LIMIT, check=False)

    def run_uscope(self, *words, **more):
        """The installed program, in a folder from which nothing of the source or the build is found."""
        return subprocess.run([self.program, *words], capture_output=True, text=True, timeout=LIMIT, check=False, cwd=self.folder, **more)

    def test_nothing_outside_the_prefix(self):
        self.assertEqual(self.installed.returncode, 0, self.installed.stderr)
        made = set()
        with open(self.log, encoding="utf-8") as log:
            for line in log:
                match = MADE.match(line)
                made.update(name for name in match.groups() if name) if match else None
        inside = [name for name in made if name.startswith(self.prefix)]
        self.assertGreater(len(inside), 10, "the log of strace names what was installed")
        # CMake's own list of what it has installed.
        known = {os.path.join(BUILD, "install_manifest.txt"), "/dev/null"}
        self.assertEqual([name for name in made if not name.startswith(self.prefix) and name not in known], [])

    def test_what_is_there(self):
        self.assertEqual(sorted(os.listdir(self.prefix)), ["bin", "share"])
        self.assertEqual(os.listdir(os.path.join(self.prefix, "bin")), ["uscope"])
        share = os.path.join(self.prefix, "share")
        for folder, name in (("uscope", "stap/uscope-stap"), ("uscope", "stap/tapset/uscope.stp"), ("doc/uscope", "README.md"),
                             ("doc/uscope", "docs/cli.md"), ("man/man1", "uscope.1"), ("man/man1", "uscope-record.1")):
            self.assertTrue(os.path.isfile(os.path.join(share, folder, name)), name)
        self.assertTrue(os.access(os.path.join(share, "uscope/stap/uscope-stap"), os.X_OK))

    def test_version_and_doctor(self):
        self.assertEqual(self.run_uscope("--version").stdout, f"uscope {VERSION}\n")
        doctor = self.run_uscope("doctor")
        self.assertEqual(doctor.returncode, 0, doctor.stdout + doctor.stderr)
        self.assertIn("can run here", doctor.stdout)

    def test_record_and_report(self):
        recorded = self.run_uscope("record", *BACKEND_OPTIONS, "-o", "true.db", "--", "/bin/true")
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        report = self.run_uscope("report", "true.db")
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertRegex(report.stdout, r"(?m)^TRACED +[\d,]+ events")
        self.assertIn("/bin/true", report.stdout)

    def test_its_stap_folder_is_found(self):
        """A script that SystemTap cannot compile: the message says by which uscope-stap it was tried."""
        script = os.path.join(self.folder, "wrong.stp")
        with open(script, "w", encoding="utf-8") as file:
            file.write("this is no script\n")
        environment = {name: value for name, value in os.environ.items() if name != "USCOPE_STAP"} | {"XDG_CACHE_HOME": self.folder}
        done = self.run_uscope("record", "--stap", script, "-o", "stap.db", "--", "/bin/true", env=environment)
        self.assertIn(f"{self.prefix}/share/uscope/stap/uscope-stap -p4 {script}", done.stderr)


if __name__ == "__main__":
    unittest.main()
