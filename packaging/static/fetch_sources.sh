#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Unpacks Debian's sources of installed libraries, in exactly the versions that are installed: for the libraries of which Debian has no
# static copy. What was downloaded is kept in the user's cache folder. usage: fetch_sources.sh (BINARY-PACKAGE DEST)…
set -euo pipefail
[ $# -ge 2 ] && [ $(($# % 2)) -eq 0 ] || { echo "usage: $0 (BINARY-PACKAGE DEST)…" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cache=${XDG_CACHE_HOME:-$HOME/.cache}/uscope-build
mkdir -p "$cache"

# Where the descriptions of sources, SOURCE_VERSION.dsc, and of what they name are kept.
folder_of() { dpkg-query -W -f "$cache/\${source:Package}_\${source:Version}" "$1"; }

missing=()
for package in "${@}"; do
  case $package in /*) continue ;; esac
  [ -d "$(folder_of "$package")" ] || missing+=("$package")
done

if [ "${#missing[@]}" -gt 0 ]; then
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  # From where the binary packages came; in folders of their own, so that the machine's own lists stay as they are.
  for package in "${missing[@]}"; do
    version=$(dpkg-query -W -f '${Version}' "$package")
    apt-cache madison "$package" | awk -F ' *[|] *' -v version="$version" '$2 == version && $3 ~ / Packages$/ { split($3, word, " ")
      split(word[2], part, "/"); print "deb-src", word[1], part[1], part[2] }'
  done | sort -u > "$work/sources.list"
  apt=(apt-get -q -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists"
       -o "Dir::Cache=$work/cache" -o APT::Sandbox::User= -o Acquire::Languages=none -o Acquire::Retries=3)
  {
    "${apt[@]}" update
    for package in "${missing[@]}"; do
      mkdir "$work/files"
      (cd "$work/files" && "${apt[@]}" --download-only source "$(dpkg-query -W -f '${source:Package}=${source:Version}' "$package")")
      mv "$work/files" "$(folder_of "$package")"
    done
  } > "$work/log" 2>&1 || {
    cat "$work/log" >&2
    echo "Debian's sources of ${missing[*]}, of which static libraries are made, are not to be had in the installed versions: if" \
         "apt-get install ${missing[*]} brings newer ones, use these" >&2
    exit 1
  }
fi

while [ $# -gt 0 ]; do
  rm -rf "$2"
  mkdir -p "$(dirname "$2")"
  # Compares each file with the checksums of the description, and applies Debian's patches.
  dpkg-source --no-check -x "$(folder_of "$1")"/*.dsc "$2" > /dev/null
  find "$2" -type f -exec touch {} +
  shift 2
done
