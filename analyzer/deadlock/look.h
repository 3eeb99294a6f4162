// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The last look at an application: what each thread was found in, which descriptors and locks processes held, and what
// could not be read. docs/schema.md describes the tables. A store without them gives an empty look.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/read/row_ids.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

struct LookedDescriptor {
  std::int64_t fd = 0;
  std::optional<std::int64_t> via_fd;  // the epoll descriptor whose set has it
  std::string wants;                   // "read", "write", "read or write", "lock", "connect", "accept", "other"
  std::optional<std::int64_t> bytes;   // that the call asks to read or write
  std::optional<std::int64_t> parts;   // in how many buffers

  // A FIFO that the call waits to open, which is no descriptor yet, or a file whose file system does not answer.
  [[nodiscard]] bool is_opening() const { return fd < -1; }
  // A file in an epoll set that no longer has the number under which it was put there.
  [[nodiscard]] bool is_stale() const { return fd == -1; }
};

// The class of the System V object that a call waits for, as HeldLock has it; null: for none.
[[nodiscard]] const char* system_v_class(std::string_view call);

struct LookedProcess {
  std::optional<std::int64_t> pid;  // nullopt: any child
  std::optional<std::int64_t> pgid;
  std::string what;  // "child", "vfork", "pidfd"
};

struct LookedMonitor {
  std::string what;  // "enter", "wait", "park"
  std::uint64_t object = 0;
  std::string class_name;
  std::optional<std::int64_t> owner_tid;
  std::string java_thread;
};

struct LookedThread {
  std::int64_t ts_ns = 0;
  std::string state;    // "asleep", "stopped", …
  bool asleep = false;  // it has not run between the beginning and the end of the look
  std::optional<std::int64_t> stop_signal;
  std::optional<std::int64_t> tracer_pid;
  std::string tracer;
  std::string call;  // empty: none, or not known
  std::array<std::uint64_t, 6> args{};
  std::optional<bool> timed;               // nullopt: not known
  std::optional<std::uint64_t> caught;     // signals for which its process has handlers, and that some thread does not
                                           // block: bit 0 is signal 1
  std::optional<std::int64_t> parent_pid;  // of its process, as the kernel has it; 0: none that uscope sees
  std::map<std::int64_t, std::int64_t> strangers;  // numbers in its lock that threads of untraced processes have: pid
  bool by_timer = false;                           // a timer may send one of them while the thread sleeps
  std::vector<LookedDescriptor> descriptors;
  std::vector<LookedProcess> processes;
  std::vector<LookedMonitor> monitors;

  [[nodiscard]] bool enters_monitor() const {  // of a known owner
    return std::any_of(monitors.begin(), monitors.end(),
                       [](const LookedMonitor& it) { return it.what == "enter" && it.owner_tid; });
  }
};

// A descriptor of a process.
struct Resource {
  ProcessRowId process_id;  // none: the process is not traced
  std::int64_t pid = 0;
  std::string process;
  std::int64_t fd = 0;  // -1: in flight; see is_mapping()
  std::string type;
  std::string access;  // "r", "w", "rw"
  std::int64_t dev = 0;
  std::int64_t ino = 0;  // 0: not known
  std::optional<std::int64_t> peer;
  std::optional<std::int64_t> queued;
  bool listening = false;
  bool nonblocking = false;
  std::string name;

  [[nodiscard]] bool reads() const { return access != "w"; }
  [[nodiscard]] bool writes() const { return access != "r"; }
  // What the process maps, without a descriptor of it: a file that is locked.
  [[nodiscard]] bool is_mapping() const { return fd == std::numeric_limits<std::int32_t>::min(); }
  [[nodiscard]] bool is_socket() const { return type == "unix" || type == "inet"; }
  // Of a file system that holds up a call: a descriptor of its server, or the mount itself.
  [[nodiscard]] bool is_server() const { return type == "mount" && fd >= 0; }
  [[nodiscard]] bool is_mount() const { return type == "mount" && fd < 0; }
  // Either side; a pseudo-terminal's number is its `peer`.
  [[nodiscard]] bool is_terminal() const { return type == "tty" || type == "ptmx"; }
  // What it is called from the other side: of a terminal's master, the terminal.
  [[nodiscard]] std::string object_name() const {
    return type == "ptmx" && peer ? "/dev/pts/" + std::to_string(*peer) : name;
  }
};

struct HeldLock {
  std::int64_t id = 0;
  std::string lock_class;  // "flock", "posix", "ofd", "sem", …
  bool writing = false;
  std::int64_t dev = 0;
  std::int64_t ino = 0;
  std::optional<std::int64_t> pid;
  ProcessRowId process_id;  // none: the process is not traced
  bool waiting = false;
  bool gone = false;
};

struct Look {
  std::map<ThreadRowId, LookedThread> threads;
  std::map<ThreadRowId, LookedThread> past;  // of threads that have entered or left a call since
  std::vector<Resource> resources;
  std::vector<HeldLock> locks;
  struct Trouble {
    ProcessRowId process_id;
    std::string what;
  };
  std::vector<Trouble> troubles;
  // Processes that the trace has seen ask for signals: for handlers of signals from outside, for timers, and for what
  // SIGALRM does, which may also be for what it does by default (posix_spawn).
  std::set<ProcessRowId> ask_for_handlers;
  std::set<ProcessRowId> ask_for_timers;
  std::set<ProcessRowId> ask_for_alarms;
  std::int64_t limits_changed_ns = 0;  // when a process last asked for another time limit of a socket; 0: none did
  // Descriptors for which threads wait that another thread of the process has closed or replaced since.
  std::set<std::pair<ThreadRowId, std::int64_t>> renumbered;
  bool kernel_signals = false;  // some process may have asked that the kernel signals an eventfd
  // System V objects without a key (IPC_PRIVATE) that the trace has seen made: class as of HeldLock, and id.
  std::set<std::pair<std::string, std::int64_t>> made_private;
};

[[nodiscard]] Result<Look> read_look(const store::Database& database);

}  // namespace uscope::analyzer
