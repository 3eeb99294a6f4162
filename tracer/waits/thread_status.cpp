// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/thread_status.h"

#include <dirent.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>

#include "uscope/record.h"

namespace uscope::tracer {
namespace {

struct Folder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// The last number of this line of a status file.
std::optional<std::uint32_t> last_number(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    const std::size_t last = line.find_last_of(" \t");
    return static_cast<std::uint32_t>(std::strtoul(line.c_str() + last + 1, nullptr, 10));
  }
  return std::nullopt;
}

}  // namespace

std::optional<ThreadStatus> status_of(std::uint32_t pid, std::uint32_t tid) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/status", pid, tid));
  ThreadStatus status;
  int counters = 0;
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view name = std::string_view(line).substr(0, colon);
    std::istringstream value(line.substr(colon + 1));
    if (name == "State") value >> status.state;
    if (name == "TracerPid") value >> status.tracer;
    if (std::uint32_t parent = 0; name == "PPid" && value >> parent) status.parent = parent;
    if (name == "NSpgid") value >> status.group;
    if (std::uint64_t caught = 0; name == "SigCgt" && value >> std::hex >> caught) status.caught = caught;
    if (std::uint64_t ignored = 0; name == "SigIgn" && value >> std::hex >> ignored) status.ignored = ignored;
    if (std::uint64_t blocked = 0; name == "SigBlk" && value >> std::hex >> blocked) status.blocked = blocked;
    if (name == "NStgid")
      for (std::uint32_t number = 0; value >> number;) status.ns_pids.push_back(number);
    if (name != "voluntary_ctxt_switches" && name != "nonvoluntary_ctxt_switches") continue;
    std::uint64_t count = 0;
    value >> count;
    status.switches += count;
    counters++;
  }
  return counters == 2 ? std::optional(status) : std::nullopt;
}

std::uint32_t tracer_of(std::uint32_t pid, std::uint32_t tid) {
  return last_number(fmt::format("/proc/{}/task/{}/status", pid, tid), "TracerPid:").value_or(0);
}

std::optional<std::uint32_t> process_of_thread(std::uint32_t tid) {
  return last_number(fmt::format("/proc/{}/status", tid), "Tgid:");
}

std::optional<std::uint32_t> inner_number_of(std::uint32_t pid, std::uint32_t tid) {
  return last_number(fmt::format("/proc/{}/task/{}/status", pid, tid), "NSpid:");
}

std::vector<std::uint32_t> threads_of(std::uint32_t pid) {
  std::vector<std::uint32_t> threads;
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  const std::unique_ptr<DIR, Folder> folder(opendir(tasks.c_str()));
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr)
    if (const unsigned long tid = std::strtoul(entry->d_name, nullptr, 10); tid != 0)
      threads.push_back(static_cast<std::uint32_t>(tid));
  return threads;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The last field of /proc/PID/stat is the code with which it would end; of a stopped process its signal.
std::uint8_t stop_signal_of(std::uint32_t pid) {
  constexpr unsigned kLastSignal = 64;
  const std::string line = first_line(fmt::format("/proc/{}/stat", pid));
  const std::size_t space = line.rfind(' ');
  if (space == std::string::npos) return 0;
  const unsigned long code = std::strtoul(line.c_str() + space, nullptr, 10);
  return code <= kLastSignal ? static_cast<std::uint8_t>(code) : std::uint8_t{0};
}

bool sleeps_elsewhere(const std::string& wchan) {
  constexpr std::array<std::string_view, 4> kParts{"seccomp", "userfault", "request_wait_answer", "fuse_"};
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return wchan.find(part) != std::string::npos; });
}

std::uint8_t state_of(const ThreadStatus& status, const std::string& wchan) {
  if (wchan.find("freez") != std::string::npos || wchan.find("refrigerator") != std::string::npos)
    return USC_THREAD_FROZEN;
  switch (status.state) {
    case 'R':
      return USC_THREAD_RUNNING;
    case 'S':
    case 'I':
      return USC_THREAD_ASLEEP;
    case 'D':
      return USC_THREAD_UNINTERRUPTIBLE;
    case 'T':
      return USC_THREAD_STOPPED;
    case 't':
      return USC_THREAD_TRACED;
    case 'Z':
    case 'X':
      return USC_THREAD_ENDED;
    default:
      return USC_THREAD_UNKNOWN;
  }
}
}  // namespace uscope::tracer
