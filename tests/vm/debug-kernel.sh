#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# debug-kernel.sh BUILD [TESTS]: builds a small kernel that looks for mistakes (debug-kernel.config: KASAN, lockdep, PROVE_RCU,
# DEBUG_ATOMIC_SLEEP, kmemleak) from Debian's linux-source-6.1, boots it, and runs the conformance suite and stress.py there, with the
# module where kmod/ is. Any complaint in the kernel's log, and any leak that kmemleak finds, fails. Half an hour to build the first
# time (JOBS=2 processes, at low priority), then an hour and a half. TESTS: only those whose names match; STRESS: how
# much of stress.py (0.1); BACKEND: bpf or kmod, where both take too long (BPF programs take most of a minute to load there).
# Packages: linux-source-6.1, ccache, bc, bison, flex, dwarves, libelf-dev, libssl-dev, xz-utils, and those of run.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ ! -x "$1/uscope" ]; then
	echo "usage: debug-kernel.sh BUILD [TESTS]   (BUILD: a build folder with uscope and the tests' programs)" >&2
	exit 2
fi
build=$(cd "$1" && pwd)
tests=${2:-}
cache=${USCOPE_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/uscope-vm}
source=$cache/linux-source-6.1
kernel=$source/arch/x86/boot/bzImage
logs=$build/vm-debug-kernel
mkdir -p "$logs" "$cache"

for tool in bc bison flex pahole ccache xz; do
	command -v "$tool" >/dev/null || { echo "debug-kernel: $tool is missing (packages: see this script's head)" >&2; exit 1; }
done
archive=/usr/src/linux-source-6.1.tar.xz
[ -e "$archive" ] || { echo "debug-kernel: $archive is missing (package linux-source-6.1)" >&2; exit 1; }

# Anew when Debian's source or the configuration is another one.
stamp=$(cat "$here/debug-kernel.config" <(stat -c '%s %Y' "$archive") | sha256sum | cut -c1-16)
if [ ! -e "$kernel" ] || [ "$(cat "$source/uscope-stamp" 2>/dev/null)" != "$stamp" ]; then
	if [ "$(cat "$source/uscope-started" 2>/dev/null)" != "$stamp" ]; then
		rm -rf "$source"
		tar -C "$cache" -xf "$archive"
		(
			cd "$source"
			make -s tinyconfig
			scripts/kconfig/merge_config.sh -m .config "$here/debug-kernel.config"
			make -s olddefconfig
			# No modules but uscope's.
			sed -i 's/=m$/=n/' .config
			make -s olddefconfig
		) >"$logs/config.log" 2>&1
		echo "$stamp" >"$source/uscope-started"
	fi
	for wanted in $(grep -o '^CONFIG_[A-Z0-9_]*=y' "$here/debug-kernel.config"); do
		grep -qx "$wanted" "$source/.config" || { echo "debug-kernel: $wanted did not come into force" >&2; exit 1; }
	done
	echo "debug-kernel: compiling; log: $logs/kernel.log"
	nice -n "${NICE:-10}" make -C "$source" -j "${JOBS:-2}" CC="ccache gcc" bzImage modules >"$logs/kernel.log" 2>&1 || {
		grep -E 'rror' "$logs/kernel.log" | tail -20
		echo "debug-kernel: the kernel did not compile: $logs/kernel.log" >&2
		exit 1
	}
	echo "$stamp" >"$source/uscope-stamp"
fi

options=(--build "$build" --kernel "$kernel" --tests "$tests" --stress "${STRESS:-0.1}" --time "${LIMIT:-7200}" --memory 4G --slowness 4
	--console-log "$logs/console" --json "$logs/results.json")
if [ -e "$here/../../kmod/Makefile" ]; then
	"$here/module.py" --kdir "$source" -o "$logs/uscope.ko"
	options+=(--module "$logs/uscope.ko" --backend "${BACKEND:-both}")
fi
exec "$here/suite.py" "${options[@]}"
