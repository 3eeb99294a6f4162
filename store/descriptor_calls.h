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
  kExec,
  kClone,
  kClone3,
  kFork,
  kUnshare,
  kIoUring,
};

[[nodiscard]] DescriptorCall descriptor_call(std::string_view name);

// What a descriptor that this call (kLabel, kPair, kIoUring) gives stands for, as /proc writes it.
[[nodiscard]] std::string_view descriptor_label(std::string_view name);

// The argument with O_CLOEXEC or SOCK_CLOEXEC, which are one bit; -1: none.
[[nodiscard]] int close_on_exec_arg(std::string_view name);

// Must all be recorded for descriptors to be known: "close", "execve" …
[[nodiscard]] bool is_needed_for_descriptors(std::string_view name);

}  // namespace uscope::store
