#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# logger.sh BUILD [KDIR]: another module logs into a trace (logger-guest, logger_check.py), on Debian 12's kernel.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
build=$1
for headers in "${2:-/usr/src}"/linux-headers-6.1.*-amd64 "${2:-}"; do
	[ -e "$headers/Makefile" ] && break
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tree/tests/vm"
cp -r "$source/include" "$source/CMakeLists.txt" "$work/tree"
mkdir "$work/tree/kmod"
(cd "$source/kmod" && cp Kbuild Makefile ./*.c ./*.h "$work/tree/kmod" && rm -f "$work"/tree/kmod/*.mod.c)
cp -r "$here/logger" "$work/tree/tests/vm"
{
	make -C "$work/tree/kmod" KDIR="$headers"
	make -C "$headers" M="$work/tree/tests/vm/logger" KBUILD_EXTRA_SYMBOLS="$work/tree/kmod/Module.symvers" modules
} >"$work/log" 2>&1 || {
	cat "$work/log"
	exit 1
}
strip -g "$work/tree/kmod/uscope.ko" "$work/tree/tests/vm/logger/logger.ko"
strip -o "$work/uscope" "$build/uscope"
for program in insmod rmmod; do
	set -- "$@" --with "$(PATH=$PATH:/usr/sbin:/sbin command -v $program)"
done
shift $(($# - 4))
"$here/run.sh" --kernel 6.1 --time 150 "$@" --with "$work/uscope:/usr/bin/uscope" --with "$work/tree/kmod/uscope.ko:/root/uscope.ko" \
	--with "$work/tree/tests/vm/logger/logger.ko:/root/logger.ko" --with "$build/tests/fixtures/fixture_getppid_loop:/root/getppid_loop" \
	--with "$here/logger-guest:/usr/bin/logger-guest" --results "$work/results" -- /usr/bin/logger-guest
python3 "$here/logger_check.py" "$work/results"
