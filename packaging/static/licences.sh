#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Collects the licences of all packages that the statically linked command was made of: those of the archives that the linker has taken
# from, as its map tells, and those of which headers alone are used. Those of npm's packages stand in DEST already, as npm-packages: `cmake
# --install` puts them there. usage: licences.sh MAP DEST
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: $0 MAP DEST" >&2; exit 2; }
map=$1 dest=$2

# The first part of the map has the members of archives, and "LOAD" lines the objects.
mapfile -t files < <({ sed -n '/^Archive member included/,/^Discarded input sections/s/^\(\/[^(]*\)(.*/\1/p' "$map"; sed -n 's/^LOAD \(\/.*\.o\)$/\1/p' "$map"; } |
                     sort -u | xargs realpath -- | sort -u | grep -v "^$(realpath "$(dirname "$map")")/" || true)
[ "${#files[@]}" -gt 10 ] || { echo "$0: $map names no libraries; link uscope-static again" >&2; exit 1; }

packages=(libfmt-dev libzydis-dev libcli11-dev nlohmann-json3-dev libprotozero-dev)
own=$(realpath "$(dirname "$0")/../..")
# Asked once, since each answer takes a look at all packages. A file may be known by its place before Debian moved it to /usr, or after.
declare -A owner_of
while IFS= read -r line; do
  owner_of[${line##*: }]=${line%%:*}
done < <(dpkg-query -S "${files[@]}" "${files[@]/#//usr}" 2>/dev/null || true)
for file in "${files[@]}"; do
  case $file in "$own"/*) continue ;; esac
  owner=${owner_of[$file]:-${owner_of[/usr$file]:-}}
  [ -n "$owner" ] || { echo "$0: no package owns $file, which is linked in" >&2; exit 1; }
  packages+=("$owner")
done

mkdir -p "$dest"
[ -s "$dest/npm-packages" ] || { echo "$0: there are no licences of the pages" >&2; exit 1; }
: > "$dest/VERSIONS"
for package in $(printf '%s\n' "${packages[@]}" | sort -u); do
  dpkg-query -W -f '${Package} ${Version} (source ${source:Package} ${source:Version})\n' "$package" | head -1 >> "$dest/VERSIONS"
  cp -L "/usr/share/doc/$package/copyright" "$dest/$package"
done
# The texts that these refer to.
grep -oh '/usr/share/common-licenses/[A-Za-z]*-[0-9.]*[0-9]' "$dest"/* | sort -u | while read -r text; do
  [ ! -f "$text" ] || cp -L "$text" "$dest/"
done
cat > "$dest/README" <<TEXT
bin/uscope is linked with the libraries of the Debian packages that VERSIONS lists. Beside this file is the copyright file of each package,
and the texts to which they refer. The pages of --html have code of the npm packages in npm-packages, in these versions, under these licences.
The program as a whole is under the GNU General Public License, version 3 or later: uscope may be used under version 2 or any later one, and
some libraries (libcrypto: Apache-2.0) ask for version 3.
The sources: uscope's own at the commit of this release; of the libraries, Debian's source packages in the versions that VERSIONS has.
\`scripts/release.sh\` links them anew, also with libraries that you have changed.
TEXT
