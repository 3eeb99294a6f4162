#!/usr/bin/env bash
# clang-tidy over the project's own C++ with the compile commands of a build folder: tidy.sh BUILD [FILE…]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: tidy.sh BUILD [FILE...]}
shift
files=("$@")
if [ "${#files[@]}" -eq 0 ]; then
  mapfile -t files < <(git ls-files 'support/*.cpp' 'symbolizer/*.cpp' 'tracer/*.cpp' 'store/*.cpp' 'analyzer/*.cpp' 'cli/*.cpp')
fi
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option -p "$build"
