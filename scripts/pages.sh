#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Makes the script and the styles of the pages that `--html` writes, in pages/dist. What stands there already is kept if it was made
# from the same sources. `pages.sh DIR` copies the result to DIR as well, for the build; if it cannot be made (no npm, no network),
# DIR then gets empty files and a warning says so: the program works without its pages. Beside them, `licences` has those of all packages. npm installs exactly what
# pages/package-lock.json names, into pages/node_modules, and runs no script of a package.
set -euo pipefail
cd "$(dirname "$0")/.."
names=(report.js report.css diff.js diff.css deadlock.js deadlock.css licences)

# Of all that the result is made from.
sum() {
  { find pages/src -type f | LC_ALL=C sort | xargs cat; cat pages/bundle.mjs pages/package.json pages/package-lock.json; } | sha256sum
}

installed() {
  cmp -s pages/package-lock.json pages/node_modules/.lock-of-pages
}

make_them() {
  local now
  now=$(sum)
  if [ -f pages/dist/made-from ] && [ "$now" = "$(cat pages/dist/made-from)" ]; then return 0; fi
  command -v npm >/dev/null || { echo "there is no npm: scripts/install-deps.sh installs it" >&2; return 1; }
  if ! installed; then
    (cd pages && npm ci --loglevel=error --fetch-retries=1) || return 1
    cp pages/package-lock.json pages/node_modules/.lock-of-pages
  fi
  mkdir -p pages/dist
  rm -f pages/dist/made-from
  node pages/bundle.mjs || return 1
  echo "$now" >pages/dist/made-from
}

# Two builds of one tree may come here at once.
exec 9<pages/package.json
flock 9
made=0
make_them || made=$?
if [ $# -eq 0 ]; then exit "$made"; fi
[ "$made" -eq 0 ] || echo "warning: uscope is built without the pages of --html; scripts/pages.sh makes them" >&2
mkdir -p "$1"
for name in "${names[@]}"; do
  from=/dev/null
  if [ "$made" -eq 0 ] && [ -f "pages/dist/$name" ]; then from=pages/dist/$name; fi
  cmp -s "$from" "$1/$name" || cp "$from" "$1/$name"
done
