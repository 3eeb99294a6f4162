#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# passes.sh: the tapset and all scripts by SystemTap's first three passes (parsed, resolved, translated), with the kernel headers that are
# installed here and made symbols; and what each pass must refuse. Compiling and running them is tests/vm/stap.sh's.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
command -v stap >/dev/null || { echo "passes.sh: there is no stap: install the package systemtap" >&2; exit 1; }
headers=$(ls -d /usr/src/linux-headers-*-amd64 2>/dev/null | sort -V | tail -1)
[ -n "$headers" ] || { echo "passes.sh: no kernel headers: install linux-headers-amd64" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
"$root/tests/vm/stap_tree.py" --headers "$headers" --output "$tree"
# One function that all kernels have, and those that the scripts name.
grep -oh 'function("[a-z0-9_]*")' "$root"/stap/examples/*.stp "$root"/tests/vm/stap/*.stp | cut -d'"' -f2 | sort -u | awk '
	BEGIN { print "ffffffff81000000 T _stext" } { printf "ffffffff810%05x T %s\n", NR * 256, $1 } END { print "ffffffff82000000 T _etext" }' >"$tree/System.map"
export SYSTEMTAP_DIR="$work/systemtap"
failed=0
stap() { "$root/stap/uscope-stap" -r "$tree" "$@" >"$work/said" 2>&1; }
complain() { echo "FAILED $1"; cat "$work/said"; failed=1; }
takes() { # SCRIPT ARGUMENT…
	for pass in 1 2 3; do
		if stap "-p$pass" "$@"; then echo "ok     -p$pass $(basename "$1")"; else complain "-p$pass $1"; fi
	done
	grep -q 'usc_log_named' "$work/said" || complain "-p3 $1: the C code has nothing of uscope"
}
refuses() { # PASS TEXT SCRIPT
	printf '%s\n' "$3" >"$work/bad.stp"
	if stap "-p$1" "$work/bad.stp"; then complain "-p$1 takes: $3"
	elif grep -q "$2" "$work/said"; then echo "ok     -p$1 refuses: $3"; else complain "-p$1 does not say '$2' of: $3"; fi
}
for script in "$root"/stap/examples/*.stp "$root"/tests/vm/stap/*.stp; do
	case $script in
	*/kinds.stp) takes "$script" "$1" ;;
	*) takes "$script" ;;
	esac
done
refuses 1 'parse error' 'probe {'
refuses 2 'while resolving probe point' 'probe kprobe.function("no_such_function_at_all") { uscope_log("x") }'
refuses 2 'while resolving probe point' 'probe kernel.trace("sched:no_such_tracepoint") { uscope_log("x") }'
refuses 2 'arity mismatch' 'probe begin { uscope_log("x", 1, 2, 3, 4, 5, 6, 7) }'
refuses 2 'type mismatch' 'probe begin { uscope_log(1) }'
refuses 2 'type mismatch' 'probe begin { uscope_log("x", uscope_app_frame()) }'
# Each function, also those that no script calls.
printf 'probe begin { printf("%%s %%d %%d\\n", uscope_app_frame(), uscope_app_address(), uscope_traced()) }\nprobe timer.s(1) { %s }\n' "$(
	for name in uscope_log uscope_log_kernel; do
		values=
		for value in '' 1 2 3 4 5 6; do values="$values${value:+, $value}"; printf '%s("x"%s) ' "$name" "$values"; done
	done)" >"$work/all.stp"
takes "$work/all.stp"
exit $failed
