#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# functions.sh BUILD [KERNEL [MODULE.ko]]: targets `kfunction` (functions-guest, functions_check.py): with BPF, on a kernel that has kprobe.multi,
# Debian's 6.12 unless told; or with the kernel module. USCOPE_VM_KEEP=1: the results stay, to be looked at.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
kernel=${2:-6.12}
module=${3:-}
work=$(mktemp -d)
[ "${USCOPE_VM_KEEP:-0}" = 1 ] && echo "functions: results in $work/results" >&2 || trap 'rm -rf "$work"' EXIT
strip -o "$work/uscope" "$build/uscope"
status=0
set -- --env BACKEND=bpf
[ -z "$module" ] || set -- --env BACKEND=kmod --with "$module:/root/uscope.ko"
"$here/run.sh" --kernel "$kernel" --time 1000 "$@" --with-module binfmt_misc --with "$work/uscope:/usr/bin/uscope" --with "$build/tests/fixtures/fixture_kernel_work:/root/kernel_work" \
	--with "$here/functions-guest:/usr/bin/functions-guest" --results "$work/results" -- /usr/bin/functions-guest || status=$?
if [ "$status" -ne 0 ]; then
	echo "functions: the guest's run ended with $status" >&2
	exit 1
fi
python3 "$here/functions_check.py" "$work/results"
