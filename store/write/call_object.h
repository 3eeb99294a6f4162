// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a call is about, as far as its number and arguments tell.
#pragma once

#include <array>
#include <cstdint>

#include "store/db/row_ids.h"
#include "syscalls/call_traits.h"

namespace uscope::store {

// Both names none: it is not known.
struct CallObject {
  StringRowId folder{};  // where a relative path begins
  StringRowId name{};
  bool is_about_any = false;  // false: the call takes no path and no descriptor
  bool is_path = false;       // `name` is a path that the call was given
  bool is_folder = false;     // the call, or what opened its descriptor, says so
  bool has_source = false;    // it reads from another object than the one that it writes to
  StringRowId source{};       // that one's name
  bool has_target = false;    // it gives the object another name (rename, link), which is this one
  StringRowId target_folder{};
  StringRowId target{};
  std::uint32_t space =
      0;                 // the mount namespace of the file, where it is another file than that of this name elsewhere
  bool changes = false;  // the call changes the object, if it succeeds
};

// Of every ABI and number; of what is no call, that it is about nothing. `abi`: enum usc_abi.
[[nodiscard]] const syscalls::ObjectArgs& object_args_of(std::uint32_t abi, std::uint32_t nr);

// All but names, whether it is a path or a folder, and the namespace.
[[nodiscard]] CallObject object_without_names(const syscalls::ObjectArgs& args,
                                              const std::array<std::uint64_t, 6>& values);

}  // namespace uscope::store
