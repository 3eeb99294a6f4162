#!/usr/bin/env bash
# Installs, builds and runs all tests. The last lines are the test runner's own summary; the exit status is its.
# USCOPE_QUICK=1 leaves out the sanitizer build and clang-tidy.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh test

echo "== formatting"
git ls-files '*.cpp' '*.h' '*.c' | grep -v '^bench/.*fixture' | xargs clang-format --dry-run -Werror

echo "== release build"
cmake --preset release
cmake --build build/release

if [ "${USCOPE_QUICK:-0}" != 1 ]; then
  echo "== clang-tidy"
  scripts/tidy.sh build/release
  echo "== unit tests with AddressSanitizer and UndefinedBehaviorSanitizer"
  cmake --preset asan-ubsan
  cmake --build build/asan-ubsan
  ctest --test-dir build/asan-ubsan --output-on-failure -j2 -LE root -E '^(conformance|vm)\.'
fi

echo "== all tests"
ctest --test-dir build/release --output-on-failure -j2
