// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The build info of a Go program: its modules and their versions, as `go version -m` shows them.
#pragma once

#include <string>

#include "symbolizer/elf/elf_handles.h"

namespace uscope::symbolizer {

// Its text: lines such as "mod\tgithub.com/x/y\tv1.2.3". Empty if the file has none, or it is damaged. Go 1.18 and
// later have it in the section .go.buildinfo itself (debug/buildinfo/buildinfo.go); of programs of older Go the section
// points to it, which is followed where the file needs no relocations for that. Bounded: at most 1 MiB is read.
[[nodiscard]] std::string read_go_build_info(Elf* elf);

}  // namespace uscope::symbolizer
