#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# matrix.sh BUILD [KERNEL…]: smoke test and conformance suite of a build on Debian's kernels (6.1, 6.12 and sid unless told), with the BPF
# backend and, where kmod/ is, the module compiled for each kernel. Prints a table; logs stay in BUILD/vm-matrix. Needs root, and some
# ten minutes for each kernel and backend. QUICK=1: the tests that scripts/test.sh chooses. JOBS=2: two kernels at a time.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ ! -x "$1/uscope" ]; then
	echo "usage: matrix.sh BUILD [KERNEL...]   (BUILD: a build folder with uscope and the tests' programs)" >&2
	exit 2
fi
build=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- 6.1 6.12 sid
logs=$build/vm-matrix
mkdir -p "$logs"

# one KERNEL: its lines of the table, in KERNEL.row.
one() {
	local kernel=$1 row=$logs/$1.row options=(--build "$build" --kernel "$1" --time "${LIMIT:-2400}") status
	[ "${QUICK:-0}" = 1 ] && options+=(--quick)
	local running
	running=$("$here/run.sh" --kernel "$kernel" -- uname -r 2>"$logs/$kernel.uname.log") || running="does not boot"
	line() { printf '%-8s %-24s %-8s %-9s %s\n' "$kernel" "$running" "$1" "$2" "$3"; }
	: >"$row"

	"$here/smoke.sh" "$build/uscope" "$kernel" >"$logs/$kernel.smoke.log" 2>&1
	status=$?
	line smoke "$([ $status = 0 ] && echo passed || echo FAILED)" "$(tail -n 1 "$logs/$kernel.smoke.log")" >>"$row"

	"$here/suite.py" "${options[@]}" --backend bpf --json "$logs/$kernel.bpf.json" --console-log "$logs/$kernel.bpf.console" \
		>"$logs/$kernel.bpf.log" 2>&1
	status=$?
	line bpf "$([ $status = 0 ] && echo passed || echo FAILED)" "$(grep '^kernel ' "$logs/$kernel.bpf.log" | cut -d: -f2)" >>"$row"

	[ -e "$here/../../kmod/Makefile" ] || return 0
	if ! "$here/module.py" --kernel "$kernel" -o "$logs/uscope-$kernel.ko" >"$logs/$kernel.module.log" 2>&1; then
		line kmod FAILED "the module does not compile: $logs/$kernel.module.log" >>"$row"
		return 0
	fi
	"$here/suite.py" "${options[@]}" --backend kmod --module "$logs/uscope-$kernel.ko" --json "$logs/$kernel.kmod.json" \
		--console-log "$logs/$kernel.kmod.console" >"$logs/$kernel.kmod.log" 2>&1
	status=$?
	line kmod "$([ $status = 0 ] && echo passed || echo FAILED)" "$(grep '^kernel ' "$logs/$kernel.kmod.log" | cut -d: -f2)" >>"$row"
}

running=0
for kernel in "$@"; do
	one "$kernel" &
	running=$((running + 1))
	if [ "$running" -ge "${JOBS:-1}" ]; then
		wait -n
		running=$((running - 1))
	fi
done
wait

printf '%-8s %-24s %-8s %-9s %s\n' series kernel what result tests
for kernel in "$@"; do
	cat "$logs/$kernel.row"
done
for kernel in "$@"; do
	grep -h '^  FAILED ' "$logs/$kernel".*.log 2>/dev/null | sed "s/^/$kernel:/"
done
rows=$(for kernel in "$@"; do cat "$logs/$kernel.row"; done)
# A kernel without a single line has not been tried.
for kernel in "$@"; do
	[ -s "$logs/$kernel.row" ] || exit 1
done
! grep -q FAILED <<<"$rows"
