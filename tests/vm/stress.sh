#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# stress.sh BUILD MODULE.ko [KERNEL]: the kernel module in a guest under storms, loads and unloads, killed tracers and random
# ioctls (stress-guest). LOADS, KILLS, CALLS set how often; TIME the limit in seconds.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
module=$2
kernel=${3:-6.1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strip -o "$work/uscope" "$build/uscope"
strip -g -o "$work/uscope.ko" "$module"
set --
for name in threads exits fork_tree exec_thread hostile_stacks many_stacks many_libraries gone_library spawn vfork; do
	set -- "$@" --with "$build/tests/fixtures/fixture_$name:/root/fixtures/fixture_$name"
done
for program in insmod rmmod dmesg pkill sync setsid awk; do
	set -- "$@" --with "$(PATH=$PATH:/usr/sbin:/sbin command -v $program)"
done
"$here/run.sh" --kernel "$kernel" --time "${TIME:-1200}" --memory 3G \
	--env "LOADS=${LOADS:-100}" --env "KILLS=${KILLS:-50}" --env "CALLS=${CALLS:-100000}" "$@" \
	--with "$work/uscope:/usr/bin/uscope" --with "$work/uscope.ko:/root/uscope.ko" \
	--with "$build/tests/vm/device_fuzz:/usr/bin/device_fuzz" --with "$here/stress-guest:/usr/bin/stress-guest" -- /usr/bin/stress-guest /root/fixtures
