// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The effects of calls on descriptors, by the calls' names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "uscope/record.h"

namespace uscope::descriptors {

enum class DescriptorCall : std::uint8_t {
  kNone,
  kOpen,      // takes a path and flags, returns a descriptor
  kMemfd,     // takes a name and flags
  kSocket,    // family, type
  kAccept,    // a descriptor for the peer
  kBind,      // descriptor, address
  kConnect,   // as kBind
  kOwnName,   // tells a socket's address
  kPeerName,  // tells its peer's
  kLabel,     // returns a descriptor of one kind: descriptor_label()
  kPidfd,     // the same, for a process
  kTakeOver,  // a copy of another process's descriptor: of a pidfd's, and a number there
  kPair,      // returns two in memory
  kSend,      // messages, which may carry descriptors
  kReceive,
  kClose,
  kCloseRange,
  kDuplicate,    // dup
  kDuplicateTo,  // dup2, dup3
  kFcntl,
  kIoctl,
  kChdir,
  kFchdir,
  kChroot,
  kSetns,
  kPivotRoot,
  kRename,    // two paths
  kRenameAt,  // two folders and paths
  kMount,
  kMoveMount,  // moves mounts, or removes them
  kExec,
  kMake,  // clone, fork: the new task's usc_task says what it shares
  kUnshare,
  kSeccomp,
  kIoUring,
};

// The calls that must be recorded, beyond those that open descriptors, and what is unknown without them.
enum class DescriptorNeed : std::uint8_t {
  kNone,
  kTables,   // without these nothing is known: "close", "dup2" …
  kSharing,  // without these nothing about tables that several tasks share
  kRoots,    // without these no file by its path
  kFolders,  // without these none by a relative path
};

// The descriptor that an event has as an argument: the kernel ignores the upper half of the register.
[[nodiscard]] inline int descriptor_arg(const usc_event& event, std::size_t arg) {
  return static_cast<int>(event.args[arg]);
}

[[nodiscard]] DescriptorCall descriptor_call(std::string_view name);

// The text for a descriptor that this call (kLabel, kPair) returns, in the notation of /proc.
[[nodiscard]] std::string_view descriptor_label(std::string_view name);

// How a call has exec close what it opens: by these bits of this argument, -1: none; or always.
struct CloseOnExec {
  int arg = -1;
  std::uint64_t bits = 0;
  bool always = false;

  [[nodiscard]] bool holds(const usc_event& event) const {
    return always || (arg >= 0 && (event.args[arg] & bits) != 0);
  }
};
[[nodiscard]] CloseOnExec close_on_exec(std::string_view name);

[[nodiscard]] DescriptorNeed descriptors_need(std::string_view name);

// The names of all calls that have an effect, as `-e` takes them.
[[nodiscard]] std::vector<std::string_view> all_descriptor_calls();

}  // namespace uscope::descriptors
