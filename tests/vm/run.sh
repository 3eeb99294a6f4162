#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# run.sh [--kernel 6.1|6.12|sid|VMLINUZ] [--with PATH]… -- COMMAND…   (run.sh --help; README.md)
exec python3 "$(dirname "$0")/vm.py" "$@"
