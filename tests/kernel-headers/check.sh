#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Compiles every header of include/uscope as kernel code, against each set of installed Debian kernel headers, and as
# BPF, where the parts of record.h are compiled alone, too; each header of include/uscope/core alone behind the port that
# bpf/ supplies to it; and the kernel module. Warnings are errors. Missing headers are a failure, not a skip: scripts/install-deps.sh installs them.
# usage: check.sh kernel|bpf|core|module SOURCE_DIR
set -eu

kind=$1
source_dir=$(cd "$2" && pwd)
here=$source_dir/tests/kernel-headers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for header in "$source_dir"/include/uscope/*.h "$source_dir"/include/uscope/base/*.h "$source_dir"/include/uscope/records/*.h; do
	echo "#include \"${header#"$source_dir"/include/}\""
done >"$work/all_headers.h"
echo "headers: $(cut -d'"' -f2 "$work/all_headers.h" | tr '\n' ' ')"
grep -q unwind.h "$work/all_headers.h"

check_kernel() {
	found=0
	for headers in /usr/src/linux-headers-*-amd64; do
		[ -e "$headers/Makefile" ] || continue
		found=$((found + 1))
		module=$work/module-$found
		mkdir "$module"
		cp "$here/module.c" "$module/uscope_contract.c"
		cat >"$module/Makefile" <<MAKE
obj-m := uscope_contract.o
ccflags-y := -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Wno-sign-compare -Wno-type-limits -Werror
ccflags-y += -I$work -I$here -I$source_dir/include
MAKE
		echo "== kernel headers $headers"
		make -C "$headers" M="$module" KBUILD_MODPOST_WARN=1 uscope_contract.ko
		test -s "$module/uscope_contract.ko"
	done
	if [ "$found" -eq 0 ]; then
		echo "FAILED: no kernel headers in /usr/src; run scripts/install-deps.sh" >&2
		exit 1
	fi
}

find_clang() {
	for clang in ${USCOPE_CLANG:-clang-19 clang}; do
		command -v "$clang" >/dev/null && return
	done
}

check_bpf() {
	find_clang
	echo "== $("$clang" --version | head -1)"
	"$clang" -target bpf -mcpu=v3 -O2 -g -std=gnu11 -D__TARGET_ARCH_x86 -Wall -Wextra -Werror -I"/usr/include/$(uname -m)-linux-gnu" \
		-I"$work" -I"$here" -I"$source_dir/include" -c "$here/program.bpf.c" -o "$work/program.o"
	test -s "$work/program.o"
	found=0
	for header in "$source_dir"/include/uscope/records/*.h; do
		echo "== ${header#"$source_dir"/include/}"
		"$clang" -target bpf -mcpu=v3 -O2 -g -std=gnu11 -D__TARGET_ARCH_x86 -Wall -Wextra -Werror -I"/usr/include/$(uname -m)-linux-gnu" \
			-I"$source_dir/include" -fsyntax-only -x c "$header"
		found=$((found + 1))
	done
	[ "$found" -gt 5 ] || { echo "FAILED: $found headers found in include/uscope/records" >&2; exit 1; }
}

# A header that needs another one includes it. Functions that the header does not use stay without a body: no warning.
check_core() {
	find_clang
	found=0
	for header in $(cd "$source_dir/include" && find uscope/core -name '*.h' | sort); do
		echo "== $header"
		printf '#include "storage.h"\n#include "%s"\n' "$header" >"$work/alone.c"
		"$clang" -target bpf -mcpu=v3 -O2 -g -Wall -Werror -Wno-gnu-variable-sized-type-not-at-end -Wno-undefined-internal \
			-Wno-unused-function -D__TARGET_ARCH_x86 -I"$source_dir/bpf" -I"$source_dir/include" \
			-I"/usr/include/$(uname -m)-linux-gnu" -fsyntax-only "$work/alone.c"
		found=$((found + 1))
	done
	[ "$found" -gt 10 ] || { echo "FAILED: $found headers found in include/uscope/core" >&2; exit 1; }
}

# The module as its Makefile builds it, from a copy: nothing is left in the source tree.
check_module() {
	found=0
	for headers in /usr/src/linux-headers-*-amd64; do
		[ -e "$headers/Makefile" ] || continue
		found=$((found + 1))
		tree=$work/tree-$found
		mkdir "$tree"
		cp -r "$source_dir/include" "$source_dir/CMakeLists.txt" "$tree"
		mkdir "$tree/kmod"
		(cd "$source_dir/kmod" && cp Kbuild Makefile ./*.c ./*.h "$tree/kmod")
		echo "== kernel headers $headers"
		make -C "$tree/kmod" KDIR="$headers" W=1 USCOPE_CFLAGS=-Werror
		test -s "$tree/kmod/uscope.ko"
		modinfo -F vermagic "$tree/kmod/uscope.ko"
	done
	[ "$found" -gt 0 ] || { echo "FAILED: no kernel headers in /usr/src; run scripts/install-deps.sh" >&2; exit 1; }
}

"check_$kind"
echo "passed: $kind"
