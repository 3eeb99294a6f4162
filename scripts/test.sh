#!/usr/bin/env bash
# Installs, builds and runs all tests. The last lines are the test runner's own summary; the exit status is its.
# USCOPE_QUICK=1 leaves out the sanitizer build, the fuzzers and clang-tidy.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh test

echo "== formatting"
git ls-files '*.cpp' '*.h' '*.c' | grep -v '^bench/.*fixture' | xargs clang-format --dry-run -Werror

echo "== release build"
cmake --preset release -DUSCOPE_TESTS=ON
cmake --build build/release

if [ "${USCOPE_QUICK:-0}" != 1 ]; then
  echo "== clang-tidy"
  scripts/tidy.sh build/release
  echo "== unit tests with AddressSanitizer and UndefinedBehaviorSanitizer"
  cmake --preset asan-ubsan -DUSCOPE_TESTS=ON
  cmake --build build/asan-ubsan
  # cli's tests time a terminal and run the command many times: they are left to the release build.
  ctest --test-dir build/asan-ubsan --output-on-failure --no-tests=error -j2 -LE root -E '^(conformance|vm|cli)\.'
  echo "== fuzzers"
  scripts/fuzz.sh 5
fi

echo "== all tests"
# Comparisons with a second run under strace depend on when children end: a failure is tried once more, and shown.
ctest --test-dir build/release --output-on-failure --no-tests=error -j2 --repeat until-pass:2
