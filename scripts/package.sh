#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Makes Debian packages in dist/: uscope, uscope-dkms (the kernel module's sources), uscope-doc. They are for the release of Debian on
# which they are made. What it takes: scripts/install-deps.sh release.
# usage: package.sh [BUILD [FOLDER]]     as release.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/dist.sh

build=${1:-build/release}
mkdir -p "${2:-dist}"
dist=$(realpath "${2:-dist}")
build_for_dist "$build"

# dpkg-buildpackage writes into the folder of the sources and beside it.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/uscope"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -Pt "$work/uscope"
cd "$work/uscope"
USCOPE_BUILD=$build DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:+$DEB_BUILD_OPTIONS }noautodbgsym" dpkg-buildpackage --build=binary --unsigned-changes > "$work/log" 2>&1 || {
  cat "$work/log" >&2
  exit 1
}
mv "$work"/*.deb "$dist/"
ls -l "$dist"/uscope*_"$version"_*.deb
