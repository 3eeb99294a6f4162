#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Installs what uscope needs, Debian packages by name. `install-deps.sh build` is what building and tracing take; `install-deps.sh
# test` adds the test runner's peers and programs; `install-deps.sh demo` is what the quick start traces; `install-deps.sh release` what
# release.sh and package.sh take; `install-deps.sh vm` what tests/vm/matrix.sh, debug-kernel.sh and tests/release/debian_roots.py take beyond
# the tests; `install-deps.sh bench` the servers of bench/.
set -euo pipefail

build=(clang-19 bpftool libbpf-dev libdw-dev libelf-dev libcli11-dev libsqlite3-dev libiberty-dev nlohmann-json3-dev libssl-dev
       liblzma-dev libdebuginfod-dev libseccomp-dev libzydis-dev libfmt-dev libncurses-dev zlib1g-dev libprotozero-dev python3
       python3-markdown-it cmake ninja-build ccache g++ gcc pkg-config libc6-dev)
demo=(apache2-bin apache2-utils)
tests=(libgtest-dev python3-jsonschema man-db mandoc clang lld libclang-rt-14-dev clang-format clang-tidy strace gdb binutils elfutils sqlite3 babeltrace2 bpftrace
       linux-headers-amd64 make dkms llvm procps linux-perf perl-base util-linux dwz xz-utils debuginfod rustc golang-go musl-tools libapr1-dev
       libboost-context-dev tmux less zsh fish redis-server default-jdk-headless
       qemu-system-x86 busybox-static cpio debian-archive-keyring kmod systemtap systemtap-sdt-dev libcap2-bin)

# The pages of --html are made by npm, and tried in a browser. An npm that is there already is not replaced.
command -v npm >/dev/null || build+=(nodejs npm)
tests+=(chromium)

release=(debhelper dh-dkms dpkg-dev lintian xz-utils)

vm=(debootstrap mmdebstrap linux-source-6.1 bc bison flex dwarves xz-utils)

bench=(mariadb-server sysbench postgresql nginx nodejs default-jre-headless openssh-client dbus-daemon socat gnuplot-nox memcached ruby)

case "${1:-build}" in
  build) packages=("${build[@]}") ;;
  demo) packages=("${demo[@]}") ;;
  release) packages=("${build[@]}" "${release[@]}") ;;
  test) packages=("${build[@]}" "${demo[@]}" "${tests[@]}" "${release[@]}") ;;
  bench) packages=("${build[@]}" "${demo[@]}" "${tests[@]}" "${release[@]}" "${bench[@]}") ;;
  vm) packages=("${build[@]}" "${demo[@]}" "${tests[@]}" "${release[@]}" "${vm[@]}") ;;
  *) echo "usage: $0 [build|demo|release|test|vm|bench]" >&2; exit 2 ;;
esac

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ "${#missing[@]}" -eq 0 ]; then
  echo "all packages are installed"
  exit 0
fi

root=()
if [ "$(id -u)" -ne 0 ]; then root=(sudo); fi
export DEBIAN_FRONTEND=noninteractive

# Packages of servers must not start them: this says so to their install scripts, for as long as this script runs.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${root[@]}" tee "$policy" >/dev/null
  "${root[@]}" chmod 755 "$policy"
  trap '"${root[@]}" rm -f "$policy"' EXIT
fi

echo "installing: ${missing[*]}"
for attempt in 1 2 3; do
  if "${root[@]}" apt-get update -q &&
     "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"; then
    exit 0
  fi
  echo "attempt $attempt failed; trying again in 10 s" >&2
  sleep 10
done
echo "could not install: ${missing[*]}; install them by hand and run this again" >&2
exit 1
