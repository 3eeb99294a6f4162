// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The name of what a call is about, from the texts that the trace has of it, and which kind of object that is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace uscope::trace {

// What the call does with a socket whose address it is given: "to" (connect, sendto, sendmsg), "at" (bind), ""
// (others).
[[nodiscard]] std::string_view address_relation(std::string_view call);

// `folder` is where a relative path begins. An address that a call was given is named as the socket is afterwards:
// `socket:[to inet:127.0.0.1:80]`, or for bind `socket:[at …]`: `relation` is address_relation(). nullopt if neither
// text is known.
[[nodiscard]] std::optional<std::string> object_name(std::string_view relation,
                                                     const std::optional<std::string>& folder,
                                                     const std::optional<std::string>& name);

enum class ObjectKind : std::uint8_t {
  kFile,    // whatever has a path: a regular file, a device, a FIFO, and a folder of which nothing says that it is one
  kFolder,  // the call says so, or how its descriptor was opened
  kPipe,
  kInet,  // sockets, by their family; kSocket: it is another one, or not known
  kInet6,
  kUnix,
  kNetlink,
  kPacket,
  kVsock,
  kSocket,
  kMemfd,
  kEventfd,
  kEpoll,
  kTimerfd,
  kSignalfd,
  kInotify,
  kPidfd,
  kAnonInode,  // another one of the kernel's that has no file: its name says which
  kOther,      // what /proc names otherwise, such as a namespace
  kCount
};

// The kind of an object with this name, as object_name() gives it. `is_path`: a path names it, not a descriptor or an
// address; then it is a file.
[[nodiscard]] ObjectKind object_kind(std::string_view name, bool is_path);

// As v_event has it: "file". `kind` is below kCount.
[[nodiscard]] std::string_view object_kind_name(ObjectKind kind);

}  // namespace uscope::trace
