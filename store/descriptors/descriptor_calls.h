// What calls do with descriptors, by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace uscope::store {

enum class DescriptorCall : std::uint8_t {
  kNone,
  kOpen,     // a path and flags; gives a descriptor
  kMemfd,    // a name and flags
  kSocket,   // family, type
  kAccept,   // a descriptor for the peer
  kBind,     // descriptor, address
  kConnect,  // as kBind
  kLabel,    // gives a descriptor of one kind: label_of()
  kPair,     // gives two by memory
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
  kMoveMount,  // moves mounts, or takes them away
  kExec,
  kMake,  // clone, fork: what the new task shares, its usc_task says
  kUnshare,
  kSeccomp,
  kIoUring,
};

// What must be recorded for descriptors to be known, beside what opens them.
enum class DescriptorNeed : std::uint8_t {
  kNone,
  kTables,   // else nothing is known: "close", "dup2" …
  kSharing,  // else nothing of tables that several tasks share
  kRoots,    // else no file by its path
  kFolders,  // else none by a relative path
};

[[nodiscard]] DescriptorCall descriptor_call(std::string_view name);

// What a descriptor that this call (kLabel, kPair) gives stands for, as /proc writes it.
[[nodiscard]] std::string_view descriptor_label(std::string_view name);

// The argument with O_CLOEXEC or SOCK_CLOEXEC, which are one bit; -1: none.
[[nodiscard]] int close_on_exec_arg(std::string_view name);

[[nodiscard]] DescriptorNeed descriptors_need(std::string_view name);

}  // namespace uscope::store
