#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Makes dist/uscope-VERSION-x86_64.tar.xz: the command as one file that needs nothing but the kernel, its documents, completions, tapset, the
# kernel module's sources, and the licences of all that is linked in. Two runs on one commit give the same bytes, in whatever folder, if the
# same versions of Debian's packages are installed; share/doc/uscope/licences/VERSIONS lists these.
# usage: release.sh [BUILD [FOLDER]]     BUILD: a folder that cmake has configured, build/release unless told. FOLDER: where the tarball goes, dist
# unless told. USCOPE_XZ_LEVEL=0 in the environment: packed in a tenth of the time, and a fifth larger.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/dist.sh

build=${1:-build/release} dist=${2:-dist}
build_for_dist "$build" uscope-static

name=uscope-$version-x86_64
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/$name
DESTDIR= cmake --install "$build" --prefix "$root" > /dev/null
install -m 755 "$build/uscope-static" "$root/bin/uscope"
make -s -C kmod dkms-tree DEST="$root/src/uscope-$version"
install -m 644 packaging/INSTALL "$root"
packaging/static/licences.sh "$build/packaging/static/uscope-static.map" "$root/share/doc/uscope/licences"

# xz's output depends on the size of its blocks, and not on how many threads there are.
mkdir -p "$dist"
tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --format=posix --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime -cf - "$name" |
    xz "-${USCOPE_XZ_LEVEL:-6}" -T2 --block-size=8MiB > "$dist/$name.tar.xz.new"
mv "$dist/$name.tar.xz.new" "$dist/$name.tar.xz"
ls -l "$dist/$name.tar.xz"
