// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which threads of a Java process wait for which objects, and who owns those, read from outside as `jhsdb` reads it:
// from the structures that HotSpot describes to debuggers. The process is neither stopped nor asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/result.h"
#include "tracer/java/target_memory.h"
#include "tracer/java/vm_structs.h"

namespace uscope::tracer {

struct MonitorWait {
  enum class What {
    kEnter,  // waits to enter the object's monitor
    kWait,   // is in Object.wait()
    kPark,   // is parked (LockSupport.park) because of the object, mostly a lock of java.util.concurrent
  };
  // kNone: nobody owns the monitor. Not known is who owns it if a virtual thread without a carrier does, and for kPark
  // if the object is not a lock with one owner, or nobody holds it alone.
  enum class Owner { kNone, kThread, kUnknown };

  std::uint32_t tid = 0;
  What what = What::kEnter;
  std::uint64_t monitor = 0;  // the VM's own structure, or for kPark the object
  std::uint64_t object = 0;   // the object's address, which may move; 0: not known
  Owner owner = Owner::kUnknown;
  std::uint32_t owner_tid = 0;  // kThread
  std::string class_name;       // of the object, as in Java; empty: not known
  std::string java_thread;      // name of the waiting thread; empty: not known
};

struct JavaMonitors {
  std::vector<MonitorWait> waits;
  std::vector<std::string> troubles;  // what could not be read, for people
};

// One reading. Thread ids are those that the VM knows: of the process's own pid namespace. What changes meanwhile may
// be read wrongly, so a caller compares two readings (unchanged_waits).
JavaMonitors read_monitors(MemoryReader& memory, const VmStructs& vm);

// Of `second` the waits that `first` has with the same monitor and owner, too.
std::vector<MonitorWait> unchanged_waits(const std::vector<MonitorWait>& first, std::vector<MonitorWait> second);

// All of a process: finds its VM, reads twice, keeps the waits of threads that slept and did not run between. Thread
// ids are the initial namespace's. nullopt: the process has no Java VM. Memory and /proc may never answer: this is
// work for a scout.
std::optional<JavaMonitors> java_monitors_of(std::uint32_t pid);

}  // namespace uscope::tracer
