// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A program's argument list, as records and as the store have it.
#pragma once

#include <string>
#include <string_view>

#include "uscope/record.h"

namespace uscope::trace {

// The arguments of an exec, each with its NUL.
struct ExecArguments {
  std::string_view list;  // the last one without a NUL is cut
  bool is_cut = false;    // there are more than in `list`
  std::string_view end;   // the last ones of a list that is cut; those between are not known
};
// `tail`: what lies behind the fixed part.
[[nodiscard]] ExecArguments exec_arguments(const usc_exec& exec, std::string_view tail);

// Adds the last arguments of a list that is cut to the tail of an exec, behind its path and what was kept of the list.
void add_argument_end(std::string& tail, std::string_view end);

// ["echo","a b"]. `is_cut`: more of them were passed; the last one is cut itself if it has no NUL: ["echo","a
// b…",null]. `end`: the last ones of these: ["echo","a b…",null,"z"].
[[nodiscard]] std::string argument_list_json(std::string_view arguments, bool is_cut, std::string_view end = {});

}  // namespace uscope::trace
