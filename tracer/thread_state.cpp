#include "tracer/thread_state.h"

#include <fstream>
#include <sstream>
#include <string>

namespace uscope::tracer {

std::optional<ThreadState> thread_state_of(std::uint32_t tid) {
  std::ifstream file("/proc/" + std::to_string(tid) + "/status");
  ThreadState thread;
  int counters = 0;
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, colon);
    std::istringstream value(line.substr(colon + 1));
    if (name == "State") value >> thread.state;
    if (name != "voluntary_ctxt_switches" && name != "nonvoluntary_ctxt_switches") continue;
    std::uint64_t count = 0;
    value >> count;
    thread.switches += count;
    counters++;
  }
  constexpr int kCounters = 2;
  return counters == kCounters ? std::optional(thread) : std::nullopt;
}

}  // namespace uscope::tracer
