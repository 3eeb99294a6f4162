#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# lockdown.sh USCOPE [KERNEL]: on a kernel that lets nobody read its memory, tracing fails, says why and what to do, and has not run
# the command; doctor says the same.
set -u
here=$(cd "$(dirname "$0")" && pwd)
uscope=$1
kernel=${2:-6.1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strip -o "$work/uscope" "$uscope"
"$here/run.sh" --kernel "$kernel" --append lockdown=confidentiality --with "$work/uscope:/usr/bin/uscope" -- /bin/sh -c \
	'uscope record -o x.db -- /bin/sh -c "echo it ran"; echo "status $?"; ls; uscope doctor' >"$work/said" 2>&1
failed=0
has() {
	grep -qF -- "$1" "$work/said" || {
		echo "lockdown: not said: $1"
		failed=1
	}
}
has "status 125"
has "the kernel is locked down"
has "boot without lockdown=confidentiality"
has "MISSING  kernel lockdown: confidentiality"
grep -q "it ran" "$work/said" && {
	echo "lockdown: the command ran, untraced"
	failed=1
}
grep -q "x\.db" "$work/said" && {
	echo "lockdown: files are left"
	failed=1
}
[ "$failed" = 0 ] && echo "lockdown: ok" || cat "$work/said"
exit "$failed"
