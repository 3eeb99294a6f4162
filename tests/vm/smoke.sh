#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# smoke.sh USCOPE [KERNEL]: does this build of uscope trace a small pipeline truly on Debian's kernel (6.1 unless told)?
# Boots the kernel, runs smoke-guest there, and looks at what came back with smoke_check.py. Never skips: what is missing fails.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ ! -x "$1" ]; then
	echo "usage: smoke.sh USCOPE [KERNEL]   (USCOPE: the built program)" >&2
	exit 2
fi
uscope=$(readlink -f "$1")
kernel=${2:-6.1}
bpftool=$(PATH=$PATH:/usr/sbin:/sbin command -v bpftool) || {
	echo "smoke: bpftool is missing (package bpftool)" >&2
	exit 1
}
work=$(mktemp -d)
# USCOPE_VM_KEEP=1: the results stay, to be looked at.
[ "${USCOPE_VM_KEEP:-0}" = 1 ] && echo "smoke: results in $work/results" >&2 || trap 'rm -rf "$work"' EXIT
# Without debug information, which is most of a development build and nothing the guest reads.
strip -o "$work/uscope" "$uscope"

status=0
"$here/run.sh" --kernel "$kernel" --time 500 --with "$work/uscope:/usr/bin/uscope" --with "$bpftool:/usr/bin/bpftool" \
	--with "$here/smoke-guest:/usr/bin/smoke-guest" --results "$work/results" -- /usr/bin/smoke-guest || status=$?
if [ "$status" -ne 0 ]; then
	echo "smoke: the guest's run ended with $status" >&2
	for file in "$work"/results/*.err; do
		[ -s "$file" ] && sed "s|^|$(basename "$file"): |" "$file" >&2
	done
	exit 1
fi
python3 "$here/smoke_check.py" "$work/results"
