#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# The module by DKMS: its tree is made, added and built against each set of installed Debian kernel headers, in folders of the
# test's own; nothing is installed. usage: dkms.sh SOURCE_DIR
set -eu
source_dir=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^project.uscope VERSION \([0-9.]*\).*/\1/p' "$source_dir/CMakeLists.txt")
mkdir "$work/source" "$work/tree"
make -s -C "$source_dir/kmod" dkms-tree DEST="$work/source/uscope-$version"
found=0
for headers in /usr/src/linux-headers-*-amd64; do
	[ -e "$headers/Makefile" ] || continue
	found=$((found + 1))
	kernel=${headers#/usr/src/linux-headers-}
	dkms() {
		command=$1
		shift
		/usr/sbin/dkms "$command" uscope/"$version" -k "$kernel" --dkmstree "$work/tree" --sourcetree "$work/source" "$@"
	}
	[ "$found" -gt 1 ] || dkms add
	dkms build --kernelsourcedir "$headers" || {
		cat "$work/tree/uscope/$version/build/make.log"
		exit 1
	}
	dkms status | grep -q "uscope/$version, $kernel, .*: built"
	find "$work/tree" -name 'uscope.ko*' | grep .
done
[ "$found" -gt 0 ] || {
	echo "FAILED: no kernel headers in /usr/src; run scripts/install-deps.sh" >&2
	exit 1
}
echo "passed: dkms"
