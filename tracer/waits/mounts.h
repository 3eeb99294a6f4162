// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Calls that a file system holds up whose server is elsewhere (FUSE, NFS, …): about which file each is, where that is
// mounted, and who serves it. Nothing is asked of such file systems: paths are followed by name up to the first folder
// that lies on one.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracer/waits/wait_calls.h"

namespace uscope::tracer {

struct Mount {
  std::uint32_t id = 0;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::string point;   // as the process sees it
  std::string type;    // "fuse.sshfs", "nfs4"
  std::string source;  // "host:/export"

  // "/home/data (nfs4 of host:/export)".
  [[nodiscard]] std::string text() const;
};

// A file about which a call is.
struct ServedFile {
  std::string path;
  Mount mount;
};

// Whether a file system of this type has a server that may not answer.
[[nodiscard]] bool is_served(std::string_view type);

// Whether the thread sleeps in a function of the kernel that waits for such a server, or it does not say where.
[[nodiscard]] bool may_wait_for_server(const std::string& wchan);

// Lines of /proc/PID/mountinfo.
[[nodiscard]] std::vector<Mount> read_mounts(std::istream& lines);

// The mount on which the path lies, by its name; null: none. The path is absolute, without "." and "..". The last of
// several at one place hides the others.
[[nodiscard]] const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path);

// The file that the call is about, if its file system is a served one; its state is that of a thread of process `pid`.
[[nodiscard]] std::optional<ServedFile> served_file(std::uint32_t pid, const CallFound& call, const ReadMemory& read);

// Descriptors of the servers of a FUSE file system: process and number. Empty: not known. `may_ask`: of which processes
// the descriptors may be listed; it is told of each before that.
[[nodiscard]] std::vector<std::pair<std::uint32_t, int>> fuse_servers(
    const Mount& mount, const std::function<bool(std::uint32_t)>& may_ask);

// How many calls wait for the server of a FUSE file system; nothing: the kernel does not say.
[[nodiscard]] std::optional<std::uint64_t> fuse_calls_waiting(const Mount& mount);

}  // namespace uscope::tracer
