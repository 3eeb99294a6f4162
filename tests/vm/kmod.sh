#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# kmod.sh BUILD [KERNEL [SCALE]]: the kernel module, compiled for Debian's kernel (6.1 unless told): two tracers on one run compared value
# by value, a choice of the suite, stress.py (a fortieth of it unless told), and functions of the kernel (functions.sh). The
# kernel clears memory that is freed: what the module reads of a task that is gone is zeroes, and not by chance what it was. It begins with
# clearing all that there is, so there is no more than needed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/module.py" --kernel "${2:-6.1}" -o "$work/uscope.ko"
"$here/suite.py" --build "$1" --kernel "${2:-6.1}" --module "$work/uscope.ko" --backend kmod --append init_on_free=1 --memory 2G --stress "${3:-0.025}" --time "${TIME:-1700}" \
	--tests '^conformance\.(wrappers|signals|interrupted|threads|exec_thread|exits|seccomp_denied|deadlock_kernel|attach_unusual|kernel_sums|live_questions|two_tracers\.(shell|threads|fork_tree))$'
"$here/functions.sh" "$1" "${2:-6.1}" "$work/uscope.ko"
