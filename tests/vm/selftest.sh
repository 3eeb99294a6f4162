#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# selftest.sh [KERNEL]: does run.sh tell the truth? Exit status, both outputs and binary files come back as they were; a panic, an
# oops of the guest's kernel and a guest that does not end are told from a command that fails.
set -u
here=$(cd "$(dirname "$0")" && pwd)
kernel=${1:-6.1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect WHAT GOT WANTED
expect() {
	if [ "$2" = "$3" ]; then
		echo "ok $1"
	else
		echo "FAILED $1: '$2', expected '$3'"
		failed=1
	fi
}

vm() {
	"$here/run.sh" --kernel "$kernel" "$@" >"$work/out" 2>"$work/err"
	status=$?
}

vm --with /no/such/file -- true # the first run ever says that it fetches the kernel
expect "a guest that cannot be made" "$status" 252
head -c 1000000 /dev/urandom >"$work/bytes"
vm --with "$work/bytes:/data/bytes" --env 'WORD=two words' --results "$work/results" -- bash -c \
	'cp /data/bytes /results/; mkdir /results/d; echo deep >/results/d/e; echo "$WORD $#"; echo bad >&2; test -t 1 && echo tty; exit 37' x 'a b' --
expect "exit status" "$status" 37
expect "output" "$(cat "$work/out")" "two words 2"
expect "errors" "$(cat "$work/err")" "bad"
expect "a binary file" "$(cmp "$work/bytes" "$work/results/bytes" && echo same)" same
expect "a file in a folder" "$(cat "$work/results/d/e")" deep

vm -- sh -c 'kill -9 $$'
expect "a command killed" "$status" 137

vm -- sh -c 'uname -r; sleep 1; echo c >/proc/sysrq-trigger; sleep 60'
expect "a kernel that crashes" "$status" 250
expect "what was written before it" "$(wc -l <"$work/out")" 1

vm --append oops=continue -- sh -c 'echo "<1>BUG: not really" >/dev/kmsg; exit 0'
expect "a kernel that complains and goes on" "$status" 250

USCOPE_TEST_PATIENCE=1 vm --time 15 -- sleep 1000
expect "a guest that does not end" "$status" 251
exit "$failed"
