#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""scripts/release.sh, and its tarball in a root where nothing else is. Needs root and BPF; usage: release_test.py SOURCE_DIR BUILD VERSION"""
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402
from roots import in_own_namespace, least_cpu, new_folder, small_root  # noqa: E402
from using import hang, install_tarball, put_hang, use  # noqa: E402

SOURCE, BUILD, VERSION = sys.argv[1:4]
NAME = f"uscope-{VERSION}-x86_64"
MOST_BYTES = 12 << 20


def make():
    """The tarball, packed quickly: larger than what is released, which is what xz makes of the same bytes."""
    folder = new_folder()
    subprocess.run([os.path.join(SOURCE, "scripts", "release.sh"), BUILD, folder], check=True, stdout=subprocess.DEVNULL,
                   env=os.environ | {"USCOPE_XZ_LEVEL": "0"})
    return os.path.join(folder, f"{NAME}.tar.xz")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tarball = make()
        cls.root = small_root()
        cls.uscope = install_tarball(cls.root, cls.tarball)
        put_hang(cls.root, "gcc", "-static")
        put_hang(cls.root, "musl-gcc", source="ends", name="ends")

    def test_the_same_bytes_again(self):
        self.assertLess(os.path.getsize(self.tarball), MOST_BYTES)
        self.assertEqual(digest(make()), digest(self.tarball))

    def test_what_is_in_it(self):
        with tarfile.open(self.tarball) as tar:
            members = {member.name.removeprefix(NAME + "/"): member for member in tar}
        for name in ("INSTALL", "bin/uscope", "share/bash-completion/completions/uscope",
                     "share/uscope/stap/tapset/uscope.stp", "share/uscope/stap/uscope-stap",
                     f"src/uscope-{VERSION}/dkms.conf", f"src/uscope-{VERSION}/include/uscope/record.h", "share/doc/uscope/" "docs/cli.md",
                     "share/doc/uscope/LICENSE", "share/doc/uscope/licences/VERSIONS"):
            self.assertTrue(name in members and members[name].isfile() and members[name].size > 0, name)
        self.assertTrue(any(name.startswith("share/uscope/stap/examples/") for name in members))
        self.assertEqual({(member.uid, member.gid, member.mtime) for member in members.values()}, {(0, 0, members["INSTALL"].mtime)})
        # What the pages of --html are made of; the notice of ECharts is to be kept with it.
        with tarfile.open(self.tarball) as tar:
            pages = tar.extractfile(f"{NAME}/share/doc/uscope/licences/npm-packages").read().decode()
        for text in ("\necharts 6", "\nzrender ", "\nd3-flame-graph ", "\n@tanstack/table-core ", "\n@dagrejs/dagre ",
                     "Apache ECharts\nCopyright 2017", "Apache License\n", "Permission to use, copy, modify, and/or distribute"):
            self.assertIn(text, pages)
        # Libraries that are surely linked in, and one of which only headers are used.
        licences = [name.removeprefix("share/doc/uscope/licences/") for name in members]
        for package in ("libc6-dev", "libdw-dev", "libsqlite3-dev", "libbpf-dev", "libssl-dev", "libfmt-dev", "libzydis-dev", "libcli11-dev",
                        "libprotozero-dev"):
            self.assertIn(package, licences)

    def test_it_needs_no_library_and_names_no_folder_of_the_build(self):
        program = self.root.path(self.uscope)
        headers = subprocess.run(["readelf", "-lWd", program], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("INTERP", headers)
        self.assertNotIn("(NEEDED)", headers)
        self.assertIn("BIND_NOW", headers)
        with open(program, "rb") as file:
            content = file.read()
        for folder in (os.path.abspath(SOURCE) + "/", os.path.abspath(BUILD)):
            self.assertEqual(content.count(folder.encode()), 0, folder)

    def test_in_a_root_of_busybox_and_musl(self):
        use(self.root, self.uscope, VERSION, unwind_data=False)  # busybox has none
        said = hang(self.root, self.uscope, "/tmp/ends child_full_pipe")
        self.assertRegex(said, r"(?m)^DEADLOCK +2 threads wait")
        self.assertIn("through ld-musl-x86_64.so.1+0x", said)

    def test_users_and_groups(self):
        """Of the root's own files, without a library that /etc/nsswitch.conf names."""
        said = self.root.must(self.uscope, "record", "-u", "worker", "-o", "/tmp/user.db", "--", "/bin/id")
        self.assertIn("uid=1234(worker) gid=1235(worker) groups=1235(worker),1236(helpers)", said)
        done = self.root.run(self.uscope, "record", "-u", "nobody-here", "-o", "/tmp/user.db", "--", "/bin/id")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no such user: nobody-here", done.stderr)

    def test_debuginfod_is_refused_with_the_reason(self):
        done = self.root.run(self.uscope, "record", "--debuginfod=http://127.0.0.1:1", "-o", "/tmp/none.db", "--", "/bin/true")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"debuginfod cannot be used: a statically linked program loads no libraries\n.*a uscope that loads libraries, as the package's does")

    def test_it_starts_soon(self):
        """The time on processors: beside other tests, the time by the clock says little."""
        self.assertLess(least_cpu(lambda: self.root.must(self.uscope, "--version")), 0.03 * SLOWNESS)
        # Most of it is the kernel's, which checks the BPF programs.
        least = least_cpu(lambda: self.root.must(self.uscope, "record", "-o", "/tmp/true.db", "--", "/bin/true"), 4)
        self.assertLess(least, 0.5 * SLOWNESS)

    def test_the_list_of_packages_to_build_with(self):
        """debian/control asks for what scripts/install-deps.sh installs."""
        with open(os.path.join(SOURCE, "scripts", "install-deps.sh"), encoding="utf-8") as file:
            lists = dict(re.findall(r"^(build|release)=\(([^)]*)\)", file.read(), re.M))
        with open(os.path.join(SOURCE, "debian", "control"), encoding="utf-8") as file:
            asked = re.search(r"^Build-Depends: (.*?)^\S", file.read(), re.M | re.S).group(1)
        asked = {re.sub(r"[\s(].*|-compat.*", "", entry.strip(), flags=re.S) for entry in asked.split(",")}
        # What only makes things faster, checks, or is in every build environment of Debian.
        self.assertEqual(asked, set((lists["build"] + " " + lists["release"]).split()) - {"ccache", "lintian", "dpkg-dev", "xz-utils"})
        with open(os.path.join(SOURCE, "debian", "changelog"), encoding="utf-8") as file:
            self.assertEqual(re.match(r"uscope \((.*?)\)", file.readline()).group(1), VERSION)


if __name__ == "__main__":
    in_own_namespace()
    del sys.argv[1:4]
    unittest.main()
