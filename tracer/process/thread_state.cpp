// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/thread_state.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "support/unique_fd.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t bit_of(int number) {
  return std::uint64_t{1} << (number - 1);
}

bool sleeps_in_futex(std::uint32_t tid) {
  std::ifstream file(fmt::format("/proc/{}/wchan", tid));
  std::string function;
  std::getline(file, function);
  const auto names = [&function](const char* part) { return function.find(part) != std::string::npos; };
  // With priority inheritance the thread waits for a lock in the kernel itself.
  return function.empty() || function == "0" || names("futex") || names("rt_mutex");
}

// The beginning of a file of /proc.
std::string beginning_of(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 256> text{};
  const ssize_t count = file ? read(file.get(), text.data(), text.size()) : -1;
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

bool is_running(const std::string& folder) {
  const std::string stat = beginning_of(folder + "/stat");
  const std::size_t at = stat.rfind(')');
  return at != std::string::npos && at + 2 < stat.size() && stat[at + 2] == 'R';
}

}  // namespace

bool is_running(std::uint32_t tid) {
  return is_running(fmt::format("/proc/{}", tid));
}

bool any_thread_runs(std::uint32_t pid) {
  constexpr int kMostThreads = 64;
  if (is_running(pid)) return true;
  int seen = 0;
  std::error_code error;
  std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", pid), error);
  for (const auto end = std::filesystem::end(threads); !error && threads != end && seen < kMostThreads; seen++) {
    if (is_running(threads->path().string())) return true;
    threads.increment(error);
  }
  return false;
}

std::optional<std::uint64_t> processor_time_ns(std::uint32_t tid) {
  const std::string times = beginning_of(fmt::format("/proc/{}/schedstat", tid));
  std::uint64_t ran_ns = 0;
  const auto [end, error] = std::from_chars(times.data(), times.data() + times.size(), ran_ns);
  return error == std::errc() ? std::optional(ran_ns) : std::nullopt;
}

bool handles_signals(std::uint32_t tid) {
  constexpr int kFirstOfLibc = 32;
  constexpr std::uint64_t kInner = bit_of(SIGILL) | bit_of(SIGTRAP) | bit_of(SIGABRT) | bit_of(SIGBUS) |
                                   bit_of(SIGFPE) | bit_of(SIGSEGV) | bit_of(SIGSYS) | bit_of(kFirstOfLibc) |
                                   bit_of(kFirstOfLibc + 1);
  std::ifstream file(fmt::format("/proc/{}/status", tid));
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("SigCgt:")) continue;
    std::uint64_t caught = 0;
    std::istringstream value(line.substr(line.find(':') + 1));
    if (value >> std::hex >> caught) return (caught & ~kInner) != 0;
  }
  return true;
}

std::optional<ThreadState> thread_state_of(std::uint32_t tid) {
  std::ifstream file(fmt::format("/proc/{}/status", tid));
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
  thread.in_futex = sleeps_in_futex(tid);
  constexpr int kCounters = 2;
  return counters == kCounters ? std::optional(thread) : std::nullopt;
}

}  // namespace uscope::tracer
