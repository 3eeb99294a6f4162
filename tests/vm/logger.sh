#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# logger.sh BUILD [KERNEL]: another module logs into a trace (logger-guest, logger_check.py), on Debian's kernel (6.1 unless told).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
kernel=${2:-6.1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/module.py" --kernel "$kernel" -o "$work/uscope.ko"
"$here/module.py" --kernel "$kernel" --folder tests/vm/logger -o "$work/logger.ko"
strip -g "$work/uscope.ko" "$work/logger.ko"
strip -o "$work/uscope" "$build/uscope"
set --
for program in insmod rmmod; do
	set -- "$@" --with "$(PATH=$PATH:/usr/sbin:/sbin command -v $program)"
done
"$here/run.sh" --kernel "$kernel" --time 500 "$@" --with "$work/uscope:/usr/bin/uscope" --with "$work/uscope.ko:/root/uscope.ko" \
	--with "$work/logger.ko:/root/logger.ko" --with "$build/tests/fixtures/fixture_getppid_loop:/root/getppid_loop" \
	--with "$build/tests/vm/device_rename:/root/device_rename" --with "$here/logger-guest:/usr/bin/logger-guest" --results "$work/results" -- /usr/bin/logger-guest
python3 "$here/logger_check.py" "$work/results"
