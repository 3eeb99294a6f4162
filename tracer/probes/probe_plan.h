// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is to be traced beside system calls: targets, resolved (docs/adr/0008-targets.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/regular_file.h"
#include "uscope/jumps.h"
#include "uscope/record.h"

namespace uscope::tracer {

// How an argument is read where a probe is hit.
struct ProbeArgument {
  enum class From : std::uint8_t { kRegister, kMemory, kRecord, kConstant };

  std::string name;
  std::string type;  // as C has it: "int", "const char *", "unsigned long"
  From from = From::kRegister;
  std::uint8_t reg = 0;    // kRegister, kMemory: DWARF number
  std::uint8_t bytes = 8;  // 1, 2, 4, 8
  bool is_signed = false;
  bool is_string = false;   // it points to a text that ends with NUL; of a tracepoint's __data_loc: is text
  std::int64_t offset = 0;  // kMemory: added to the register; kRecord: in the tracepoint's record; kConstant: the value
};

// A jump by which a function may end: to another one.
struct ProbeJump {
  std::uint64_t place = 0;           // file offset
  std::uint8_t condition = 0;        // 0: it has none; else 1 more than what usc_condition_holds() takes
  bool again = false;                // it leads to the function's own entry
  bool may_return = false;           // it is a `ret`, of an address that may be the function's return address or not
  std::optional<usc_jump> indirect;  // where it leads is found out when it is hit
};

// One place, or several that are one kind of event.
struct Probe {
  std::uint8_t source = USC_SOURCE_UFUNCTION;
  std::uint32_t kind = 0;                // number in its source, from 1
  std::string name;                      // of the kind: "libssl.so.3:SSL_read", "sched:sched_switch"
  std::vector<ProbeArgument> arguments;  // at most six
  std::string not_kept;  // what else is known where it is hit, and why no event has that; empty: nothing
  std::string path;      // ufunction, usdt: the file
  FileIdentity file;     // which it was when it was read
  // ufunction, usdt: file offsets (a USDT probe may have several); kfunction: the one address in the kernel
  std::vector<std::uint64_t> places;
  bool forced = false;          // by --force-probe: nothing proves that it does no harm
  std::uint64_t semaphore = 0;  // usdt: file offset of its semaphore; 0: none
  std::uint32_t event_id = 0;   // tracepoint: tracefs' id
  std::string system, event;    // tracepoint

  // Functions: an event lasts from entry to return, if that is asked for.
  bool with_return = false;
  std::vector<std::uint64_t> returns;  // ufunction: file offsets of its `ret` instructions
  std::vector<ProbeJump> jumps;        // ufunction: where it goes over to another one, or may
  std::string result_type;             // "char *"; empty: not known
  std::uint8_t result_bytes = 0;       // 1, 2, 4, 8; 0: it has no result
  bool result_is_signed = false;
};

// In a file: of entries, returns and jumps.
[[nodiscard]] inline std::vector<std::uint64_t> all_places(const Probe& probe) {
  std::vector<std::uint64_t> places = probe.places;
  places.insert(places.end(), probe.returns.begin(), probe.returns.end());
  for (const ProbeJump& jump : probe.jumps) places.push_back(jump.place);
  return places;
}

struct ProbePlan {
  std::uint32_t sample_hz = 0;  // times a second and CPU; 0: no samples
  bool offcpu = false;
  std::vector<Probe> probes;
  bool attach_singly = false;  // each place in a file by itself, as on kernels before 6.6

  [[nodiscard]] bool empty() const { return sample_hz == 0 && !offcpu && probes.empty(); }
};

// A file's path as its process sees it: of a process in a container, the tracer's begins with /proc/PID/root.
[[nodiscard]] inline std::string path_in_its_root(const std::string& path) {
  constexpr std::string_view kProc = "/proc/";
  constexpr std::string_view kRoot = "/root/";
  const std::size_t root = path.find(kRoot);
  const bool is_inside = path.starts_with(kProc) && root != std::string::npos &&
                         path.find_first_not_of("0123456789", kProc.size()) == root;
  return is_inside ? path.substr(root + kRoot.size() - 1) : path;
}

constexpr std::uint32_t kMostSampleHz = 10'000;

}  // namespace uscope::tracer
