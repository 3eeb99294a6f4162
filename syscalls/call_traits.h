// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Properties of calls that hold for every application: whether a call waits, which others do the same, what it
// transfers, and which argument names the file, socket or other object that it is about.
#pragma once

#include <cstdint>
#include <string_view>

#include "uscope/record.h"

namespace uscope::syscalls {

// Whether the call's count and duration depend on when other threads and peers act: the class %wait. `name` as in
// syscalls.def.
[[nodiscard]] bool waits(std::string_view name);

// Whether a program may use either call for the same: fsync or fdatasync, open or openat. True of a call and itself, if
// it has such relatives.
[[nodiscard]] bool are_related(std::string_view one, std::string_view other);

// What a call transfers through descriptors.
struct Transfer {
  bool reads = false;
  bool writes = false;
  bool counts_bytes = false;  // a result above 0 is the number of bytes
  int source = -1;  // of a call that reads from one descriptor and writes to another: the first one's argument
  int target = -1;  // and the second one's
};

[[nodiscard]] Transfer transfer_of(std::string_view name);

// Whether the call opens the object that it is about: a file, or a connection.
[[nodiscard]] bool opens(std::string_view name);

// The argument that says what a call is about; -1: none.
struct ObjectArgs {
  int path = -1;
  int folder = -1;      // the folder of a relative path; -1 with a path: it is relative to the working directory
  int address = -1;     // counts before the descriptor
  int descriptor = -1;  // of a call without a path; of a transfer, its target
  int source = -1;      // Transfer::source
  int target = -1;      // of two paths of one object, the name that the call gives it: rename, link
  int target_folder = -1;
  bool changes = false;    // if it succeeds, it changes that object: its contents, its name, or its attributes
  int open_flags = -1;     // whether it does so depends on these: see makes_anew()
  bool is_folder = false;  // it succeeds only where the object is a folder,
  int folder_flags = -1;   // or so it does with this bit in this argument
  std::uint64_t folder_flag = 0;
  int open_how = -1;  // or with that bit in the first word that this argument points to
  [[nodiscard]] bool any() const { return path >= 0 || descriptor >= 0; }
};

[[nodiscard]] ObjectArgs object_args(usc_abi abi, std::uint32_t nr);

// Whether a file that was opened with these flags is a new one, or empty.
[[nodiscard]] bool makes_anew(std::uint64_t open_flags);

}  // namespace uscope::syscalls
