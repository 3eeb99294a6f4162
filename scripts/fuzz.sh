#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Builds the fuzzers (preset asan-ubsan) and runs each for so many seconds, from its corpus in tests/fuzz/corpus:
#   fuzz.sh [SECONDS [TARGET...]]      (20 seconds, all targets)
# Inputs found are kept in build/fuzz/corpus, crashes in build/fuzz/crashes; USCOPE_FUZZ_JOBS fuzzers run at a time (2).
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-20}
shift || true
targets=("$@")
if [ "${#targets[@]}" -eq 0 ]; then
  for folder in tests/fuzz/corpus/*/; do targets+=("$(basename "$folder")"); done
fi

cmake --preset asan-ubsan -DUSCOPE_TESTS=ON >/dev/null
cmake --build build/asan-ubsan --target fuzz_targets
mkdir -p build/fuzz/crashes

run() {
  local target=$1 seconds=$2
  mkdir -p "build/fuzz/corpus/$target"
  if "build/asan-ubsan/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2000 -max_len=8192 \
     -artifact_prefix="build/fuzz/crashes/$target-" -print_final_stats=1 \
     "build/fuzz/corpus/$target" "tests/fuzz/corpus/$target" >"build/fuzz/$target.log" 2>&1; then
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$target.log") inputs, nothing found"
  else
    tail -n 60 "build/fuzz/$target.log"
    echo "$target: FAILED; the input is in build/fuzz/crashes, the log is build/fuzz/$target.log"
    return 1
  fi
}
export -f run
# Each of them is tried, and any failure is this script's.
printf '%s\n' "${targets[@]}" | xargs -P "${USCOPE_FUZZ_JOBS:-2}" -I{} bash -c "run {} $seconds"
