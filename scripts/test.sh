#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Installs, builds and runs all tests. The last line is the test runner's own summary; the exit status is its.
#   test.sh            everything: what CI runs
#   test.sh --quick    while working: formatting, clang-tidy of what has changed, the release build, unit tests, and the tests with the
#                      label `quick`
set -euo pipefail
cd "$(dirname "$0")/.."

# Ctrl-C, SIGTERM and the end of this script end all that it has started.
[ -n "${USCOPE_WITHIN:-}" ] || exec scripts/within.py scripts/test.sh "$@"

quick=0
case "${1:-}" in
"") ;;
--quick) quick=1 ;;
*) echo "usage: $0 [--quick]" >&2; exit 2 ;;
esac

# Results of the compiler hold in every checkout, wherever it lies; those of the BPF programs in both builds of this one.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_IGNOREOPTIONS='-fmacro-prefix-map=*'

stage() { printf '== %s (%d:%02d)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

# What has been edited since the last commit but one.
changed() {
  { git diff --name-only HEAD~1 2>/dev/null || git ls-files; git ls-files --others --exclude-standard; } |
    grep -E '^(support|trace|syscalls|symbolizer|tracer|descriptors|store|query|analyzer|live|exporters|cli)/.*\.cpp$' | while read -r file; do [ -f "$file" ] && echo "$file"; done
}

scripts/install-deps.sh test
# Tracepoints are looked up in tracefs. Systemd mounts it; the init of a container or of a small machine may not.
[ "$(id -u)" -ne 0 ] || mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing ||
  echo "tracefs cannot be mounted: tests of tracepoints will fail" >&2

stage "formatting"
git ls-files '*.cpp' '*.h' '*.c' | grep -v '^bench/.*fixture' | xargs clang-format --dry-run -Werror

# Unit tests run once: when everything runs, in the sanitizers' build.
stage "release build"
cmake --preset release -DUSCOPE_TESTS=ON -DUSCOPE_UNIT_TESTS=$([ "$quick" = 1 ] && echo ON || echo OFF)
cmake --build build/release

if [ "$quick" = 1 ]; then
  mapfile -t files < <(changed || true)
  if [ "${#files[@]}" -eq 0 ]; then
    stage "quick tests"
    exec scripts/run-tests.py build/release --label quick
  fi
  stage "quick tests, and clang-tidy beside them"
  exec scripts/run-tests.py build/release --label quick --beside "scripts/tidy.py build/release ${files[*]}"
fi

stage "unit tests with AddressSanitizer and UndefinedBehaviorSanitizer"
cmake --preset asan-ubsan -DUSCOPE_TESTS=ON
cmake --build build/asan-ubsan
scripts/run-tests.py build/asan-ubsan --without computes

stage "fuzzers"
scripts/fuzz.sh 5

stage "all tests; beside them the sanitizers' tests that only compute, and clang-tidy"
exec scripts/run-tests.py build/release \
  --beside "scripts/run-tests.py build/asan-ubsan --label computes; status=\$?; scripts/tidy.py build/release && exit \$status"
