#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# kernel_functions.sh BUILD [KERNEL [ROUNDS]]: what it costs a program that does nothing but call the kernel if all functions of the kernel that
# can be traced are attached at once, in an emulated machine (6.12 unless told): alone; counted by a question; while another program is
# recorded; recorded itself. Also how long one function and all of them take from start to end of a question, and of a recording. Only
# ratios within one run mean something there.
set -eu
if [ "${1:-}" = --guest ]; then
	export TIMEFORMAT='%R'
	work() { time dd if=/dev/zero of=/dev/null bs=1 count="$COUNT" 2>/dev/null; }
	export -f work
	export COUNT
	all=(-q -e none --all-matches -t 'kfunction:*')
	ask() {
		uscope query --once --all-matches --format json "SELECT kind, count(*) FROM v_event WHERE class = 'kfunction' AND kind GLOB '$1' GROUP BY kind" -- "${@:2}"
	}
	for targets in vfs_read '*'; do
		echo "a question about true with kfunction:$targets takes (s): $({ time ask "$targets" true >/dev/null; } 2>&1)"
		echo "a recording of true with kfunction:$targets takes (s): $({ time uscope record -q -e none --all-matches -o one.db -t "kfunction:$targets" -- true; } 2>&1)"
	done
	for ((round = 0; round < $2; round++)); do
		COUNT=20000
		echo "20000 alone: $(work 2>&1)"
		echo "20000 counted: $(ask '*' bash -c work 2>&1 >answer)"
		echo "  of which lost: $(grep -o '"lost": *[0-9]*' answer)"
		COUNT=3000
		echo "3000 alone: $(work 2>&1)"
		uscope record "${all[@]}" -o other.db -- sleep 1000 &
		tracer=$!
		until pgrep -x sleep >/dev/null; do sleep 0.1; done
		echo "beside: $(work 2>&1)"
		kill "$(pgrep -x sleep)"
		wait $tracer || true
		echo "recorded: $(uscope record "${all[@]}" -o self.db -- bash -c work 2>&1)"
	done
	uscope sql --format json self.db "SELECT (SELECT count(*) FROM event) AS events, (SELECT sum(count) FROM loss) AS lost, (SELECT count(*) FROM kind) AS kinds"
	exit 0
fi
build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strip -o "$work/uscope" "$build/uscope"
"$here/../tests/vm/run.sh" --kernel "${2:-6.12}" --time 1500 --with "$work/uscope:/usr/bin/uscope" --with "$(command -v pgrep)" \
	--with "$here/kernel_functions.sh:/usr/bin/kernel_functions" -- /usr/bin/kernel_functions --guest "${3:-3}"
