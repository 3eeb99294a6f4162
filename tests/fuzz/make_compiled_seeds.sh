#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Writes seeds that a compiler makes, with DWARF, inlined calls, a PLT and compressed sections, into the corpora of elf_names and
# elf_rows: make_compiled_seeds.sh [CORPUS-FOLDER]. They are small files; run anew where other compilers should be represented.
set -euo pipefail
corpus=$(realpath "${1:-$(dirname "$0")/corpus}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >seed.c <<'C'
extern int elsewhere(int);
static inline __attribute__((always_inline)) int inlined(int x) { return elsewhere(x) * 3; }
__attribute__((noinline)) static int hidden(int x) { return inlined(x) + inlined(x + 1); }
int outer(int x) { volatile char room[x + 16]; room[x] = 1; return hidden(x) + room[x]; }
C
cat >seed.cpp <<'C'
namespace room { template <typename T> struct Box { T value; T get(T by) const; };
template <typename T> T Box<T>::get(T by) const { return value + by; } template struct Box<int>; }
int use(const room::Box<int>& box) { return box.get(2); }
C
cat >usdt.c <<'C'
#define _SDT_HAS_SEMAPHORES 1
__extension__ unsigned short seed_sold_semaphore __attribute__((used, section(".probes")));
#include <sys/sdt.h>
int total;
int sell(int count, const char* name, long* prices) {
  STAP_PROBE6(seed, sold, count, name, 7, prices[count], total, &total);
  return *name;
}
C
flags=(-O1 -ffile-prefix-map="$work"=. -fno-asynchronous-unwind-tables -funwind-tables -shared -fPIC -nostdlib
       -Wl,-z,noseparate-code -Wl,-z,norelro -Wl,-z,max-page-size=16 -Wl,--hash-style=gnu -Wl,--build-id=sha1)
gcc "${flags[@]}" -g seed.c -o dwarf5
gcc "${flags[@]}" -gdwarf-4 seed.c -o dwarf4
gcc "${flags[@]}" -g -gz=zlib seed.c -o compressed
gcc "${flags[@]}" -fno-exceptions -g -fno-unwind-tables seed.c -o debug_frame
g++ "${flags[@]}" -g1 -fno-exceptions seed.cpp -o cpp
clang "${flags[@]}" -g seed.c -o clang
gcc "${flags[@]}" -g usdt.c -o usdt
cp dwarf5 stripped && strip stripped
cp stripped headless && printf '\0\0\0\0\0\0\0\0' | dd of=headless bs=1 seek=40 conv=notrunc status=none
for seed in dwarf5 dwarf4 compressed debug_frame cpp clang usdt stripped headless; do
  for target in elf_names elf_rows; do cp "$seed" "$corpus/$target/compiled_$seed"; done
done
