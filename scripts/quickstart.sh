#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# From nothing to a report: installs, builds, traces Apache's event server while it answers 20,000 requests on loopback, and prints
# what was seen. If a package lies in dist/ or beside this script, that is installed, and nothing is built. Everything else that it makes
# lies in the build folder.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh demo
user=()
[ "$(id -u)" -eq 0 ] || user=(sudo)
package=$(find dist scripts -maxdepth 1 -name 'uscope_*_amd64.deb' 2>/dev/null | sort -V | tail -1 || true)
if [ -n "$package" ] && "${user[@]}" apt-get install -y -q --no-install-recommends "./$package"; then
  uscope=/usr/bin/uscope
else
  [ -z "$package" ] || echo "$package cannot be installed here: building" >&2
  scripts/install-deps.sh build
  cmake --preset release -DUSCOPE_TESTS=OFF
  cmake --build build/release --target uscope
  uscope=$PWD/build/release/uscope
fi

demo=$PWD/build/quickstart
port=${USCOPE_DEMO_PORT:-8797}
rm -rf "$demo"
mkdir -p "$demo/htdocs"
head -c 4096 /dev/zero | tr '\0' x > "$demo/htdocs/page.html"
cat > "$demo/apache.conf" <<CONF
ServerRoot $demo
PidFile $demo/pid
ErrorLog $demo/error.log
Listen 127.0.0.1:$port
ServerName localhost
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
DocumentRoot $demo/htdocs
<Directory $demo/htdocs>
  Require all granted
</Directory>
CONF
# Apache gives up root: its workers must be able to reach the page.
if [ "$(id -u)" -eq 0 ]; then
  printf 'User nobody\nGroup nogroup\n' >> "$demo/apache.conf"
  shared=$(mktemp -d /tmp/uscope-quickstart.XXXXXX)
  cp "$demo/htdocs/page.html" "$shared/"
  chmod -R a+rX "$shared"
  sed -i "s|$demo/htdocs|$shared|" "$demo/apache.conf"
  trap 'rm -rf "$shared"' EXIT
fi

echo
echo "== uscope record -o apache.db -- apache2 -DFOREGROUND   (every 200th stack is checked against libdwfl)"
"${user[@]}" "$uscope" record --verify 200 -o "$demo/apache.db" -- /usr/sbin/apache2 -f "$demo/apache.conf" -DFOREGROUND &
recording=$!
for _ in $(seq 100); do
  [ -s "$demo/pid" ] && break
  sleep 0.1
done
sleep 0.5
ab -q -k -c 50 -n 20000 "http://127.0.0.1:$port/page.html" | grep -E 'Requests per second|Complete requests'
"${user[@]}" kill -TERM "$(cat "$demo/pid")"
wait "$recording"

echo
echo "== uscope report apache.db"
"$uscope" report "$demo/apache.db"
echo
echo "== uscope tree apache.db"
"$uscope" tree "$demo/apache.db"
echo
echo "The trace is $demo/apache.db. Try:"
echo "  $uscope events -k --slow 1ms $demo/apache.db     the slow calls, with their stacks"
echo "  $uscope sql $demo/apache.db 'SELECT kind, trigger, count(*) FROM v_event GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 10'"
echo "  $uscope record -o my.db -- YOUR COMMAND          your own application"
