# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Read by release.sh and package.sh, in the root of the sources: what both need to know, and the build that both begin with.
version=$(sed -n 's/^project(uscope VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
# The time of what they make is that of the last commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
umask 022

# build_for_dist BUILD [TARGET…]: all that is installed, and these targets, with the pages of --html or not at all. Sets `build` to the folder's whole name.
build_for_dist() {
  scripts/pages.sh > /dev/null || { echo "what is released has the pages of --html, which could not be made" >&2; return 1; }
  [ -f "$1/CMakeCache.txt" ] || cmake -S . -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DUSCOPE_TESTS=OFF
  cmake --build "$1" --target uscope uscope_completions "${@:2}"
  build=$(realpath "$1")
}
