// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Prints what tracer/java reads of a Java process, one line a wait: for java_monitors.py, which compares it with
// jstack. usage: java_monitors PID
#include <fmt/core.h>

#include <cstdint>
#include <cstdlib>

#include "tracer/java/java_monitors.h"

int main(int argc, char** argv) {
  using uscope::tracer::MonitorWait;
  if (argc != 2) return 2;
  const auto found = uscope::tracer::java_monitors_of(static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10)));
  if (!found) {
    fmt::print("no Java VM\n");
    return 1;
  }
  constexpr const char* kWhats[] = {"enter", "wait", "park"};
  constexpr const char* kOwners[] = {"none", "thread", "unknown"};
  for (const MonitorWait& wait : found->waits)
    fmt::print("{}\t{}\t{}\t{}\t{:#x}\t{}\t{}\n", wait.tid, kWhats[static_cast<int>(wait.what)],
               kOwners[static_cast<int>(wait.owner)], wait.owner_tid, wait.object, wait.class_name, wait.java_thread);
  for (const std::string& trouble : found->troubles) fmt::print("trouble\t{}\n", trouble);
  return 0;
}
