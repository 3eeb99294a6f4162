#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# stap.sh BUILD [KERNEL [compile]]: SystemTap scripts by pass on this machine, then `record --stap` beside the module in a guest, on Debian's
# kernel (6.1 unless told), whose headers must be installed here: the examples (stap-examples-guest, stap_examples_check.py), and what can
# go wrong (stap-guest, stap_check.py). With `compile` it only compiles the scripts, and keeps the modules for the run without.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
kernel=${2:-6.1}
only_compile=${3:-}
command -v stap >/dev/null || { echo "stap.sh: there is no stap: install the package systemtap" >&2; exit 1; }
work=$(mktemp -d)
trap '[ "${USCOPE_VM_KEEP:-0}" = 1 ] && echo "kept: $work" || rm -rf "$work"' EXIT
"$here/module.py" --kernel "$kernel" -o "$work/uscope.ko"
strip -g "$work/uscope.ko"
strip -o "$work/uscope" "$build/uscope"
kept=$("$here/stap_tree.py" --kernel "$kernel")
tree=$kept/tree
export SYSTEMTAP_DIR="$kept/modules" # where stap keeps what it compiled

stap=$here/../../stap/uscope-stap
refuses() { # PASS TEXT SCRIPT
	printf '%s\n' "$3" >"$work/bad.stp"
	if "$stap" "-p$1" -r "$tree" "$work/bad.stp" >"$work/said" 2>&1; then echo "stap -p$1 took: $3" >&2; exit 1; fi
	grep -q "$2" "$work/said" || { cat "$work/said" >&2; exit 1; }
}
refuses 1 'parse error' 'probe {'
refuses 2 'while resolving probe point' 'probe kprobe.function("no_such_function_at_all") { uscope_log("x") }'
refuses 2 'arity mismatch' 'probe begin { uscope_log("x", 1, 2, 3, 4, 5, 6, 7) }'
refuses 2 'type mismatch' 'probe begin { uscope_log(1) }'

fixtures=$(realpath "$build/tests/fixtures")
# A script for a program is compiled for its path and its time: a copy that is known by its content has both of them for all checkouts.
marks=$kept/programs/$(sha256sum "$fixtures/fixture_marks" | cut -c1-16)/fixture_marks
if [ ! -f "$marks" ]; then
	mkdir -p "$(dirname "$marks")"
	cp "$fixtures/fixture_marks" "$marks.$$"
	mv "$marks.$$" "$marks"
fi
compiled() { # SCRIPT ARGUMENT…: the module's path
	path=$("$stap" -p4 -r "$tree" "$@" 2>"$work/said" | tail -1) || true
	[ -f "$path" ] || { cat "$work/said" >&2; exit 1; }
	echo "$path"
}
set --
mkdir "$work/stap" "$work/examples"
for script in "$here"/stap/*.stp; do
	case $script in
	*/kinds.stp) module=$(compiled "$script" "$marks") ;;
	*) module=$(compiled "$script") ;;
	esac
	cp "$module" "$work/stap/"
	echo "/root/stap/$(basename "$module")" >"$work/stap/$(basename "$script" .stp).path"
done
for script in "$here"/../../stap/examples/*.stp; do
	module=$(compiled "$script")
	cp "$module" "$work/examples/$(basename "$script" .stp).ko"
done
[ -z "$only_compile" ] || exit 0
for program in insmod rmmod staprun pkill timeout; do
	set -- "$@" --with "$(PATH=$PATH:/usr/sbin:/sbin command -v $program)"
done
"$here/run.sh" --kernel "$kernel" --time 1200 "$@" --with /usr/lib/systemtap/stapio --with "$work/uscope:/usr/bin/uscope" --with "$work/uscope.ko:/root/uscope.ko" \
	--with "$work/stap:/root/stap" --with "$work/examples:/root/examples" --with "$fixtures/fixture_getppid_loop:/root/getppid_loop" \
	--with "$fixtures/fixture_kernel_work:/root/kernel_work" --with "$marks" --env "MARKS=$marks" --with "$here/stap-guest:/usr/bin/stap-guest" \
	--with "$here/stap-examples-guest:/usr/bin/stap-examples-guest" --results "$work/results" -- /bin/sh -c 'stap-examples-guest && stap-guest'
python3 "$here/stap_examples_check.py" "$work/results"
python3 "$here/stap_check.py" "$work/results"
