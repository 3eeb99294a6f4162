// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/collect/code_watch.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "support/clock.h"
#include "support/regular_file.h"
#include "tracer/process/process_list.h"
#include "tracer/scouts/foreign_code.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kShortestRestNs = kSecondNs;
constexpr std::uint64_t kRestTimes = 100;  // as long as a look takes

// How long the collector waits for where the code is, and which part of the time it has for that.
constexpr std::int64_t kDoubtNs = 20 * kMillisecondNs;
constexpr std::uint64_t kDoubtPart = 10;
constexpr std::size_t kMostTold = 1024;  // the looks at all processes find the rest

constexpr std::string_view kWhereToLook =
    " (a breakpoint that was set at a probe in the milliseconds before may be gone: set it again)";

std::string deed_of(CodeFinding::What what) {
  if (what == CodeFinding::What::kDebugged) return "has a debugger that can write its memory, with code";
  if (what == CodeFinding::What::kTranslated)
    return "may translate code instead of executing it, as valgrind does (a static program that makes code in memory),";
  if (what == CodeFinding::What::kChanged) return "has changed code in its memory";
  if (what == CodeFinding::What::kCopyChanged) return "has changed a copy, which it does not execute, of code";
  return "has made memory writable with code";
}

bool has_our_pid_namespace(std::uint32_t pid) {
  return link_target(fmt::format("/proc/{}/ns/pid", pid)) == link_target("/proc/self/ns/pid");
}

// Whose memory a process that is named as `number` in the /proc of process `by` has: itself, or all that it traces, if
// numbers mean something else there.
std::vector<std::uint32_t> processes_meant(std::uint32_t by, std::uint32_t number) {
  if (has_our_pid_namespace(by)) return {number};
  std::vector<std::uint32_t> traced;
  for (const std::uint32_t pid : running_processes())
    if (tracing_process_of(pid) == by) traced.push_back(pid);
  return traced;
}

// As in "/proc/NUMBER/mem".
std::vector<std::uint32_t> owners_of_memory(std::uint32_t by, std::string_view path) {
  constexpr std::string_view kProc = "/proc/";
  if (!path.starts_with(kProc)) return {by};
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(path.data() + kProc.size(), path.data() + path.size(), number);
  return error == std::errc() && *end == '/' ? processes_meant(by, number) : std::vector{by};
}

std::string doubtful_deed(const usc_code_doubt& doubt) {
  const std::string by = fmt::format("process {} ({})", doubt.pid, name_of(doubt.pid));
  if (doubt.reason == USC_DOUBT_DEBUGGED) return "has a debugger, and code";
  if (doubt.reason == USC_DOUBT_DEBUGGER) return fmt::format("has a debugger, {}, and code", by);
  if (doubt.reason == USC_DOUBT_MEMORY_FILE)
    return fmt::format("has memory that {} has opened for writing, and code", by);
  if (doubt.reason == USC_DOUBT_LOADS) return deed_of(CodeFinding::What::kTranslated);
  return deed_of(CodeFinding::What::kWritable);
}

// Whether a call that was seen when it began has done what it was to do: anybody may try. One that has not come so far
// is found by the looks at all processes.
bool came_true(const usc_code_doubt& doubt, std::uint32_t pid) {
  if (doubt.reason == USC_DOUBT_DEBUGGER) return tracer_of(pid) != 0;
  return doubt.reason != USC_DOUBT_MEMORY_FILE || can_write_memory(doubt.pid);
}

}  // namespace

void CodeWatch::doubt(const usc_code_doubt& doubt) {
  const auto is_same = [&](const usc_code_doubt& other) {
    const auto said = [](const usc_code_doubt& one) {
      return std::tie(one.reason, one.pid, one.other, one.start, one.end, one.pc);
    };
    return said(other) == said(doubt) && std::memcmp(other.path, doubt.path, sizeof(doubt.path)) == 0;
  };
  if (told_.size() < kMostTold && std::none_of(told_.begin(), told_.end(), is_same)) told_.push_back(doubt);
}

// Finds out whose memory it is about.
void CodeWatch::take(const usc_code_doubt& doubt) {
  CodeDoubt one;
  if (doubt.end != 0) one = {.start = doubt.start, .end = doubt.end};
  one.pc = doubt.pc;
  one.of_translators_only = doubt.reason == USC_DOUBT_LOADS;
  std::vector<std::uint32_t> pids{doubt.pid};
  if (doubt.reason == USC_DOUBT_DEBUGGER) pids = processes_meant(doubt.pid, doubt.other);
  if (doubt.reason == USC_DOUBT_MEMORY_FILE)
    pids = owners_of_memory(doubt.pid, {doubt.path, strnlen(doubt.path, sizeof(doubt.path))});
  for (const std::uint32_t pid : pids) {
    one.pid = pid;
    const auto is_same = [&](const Doubted& other) { return other.doubt == one; };
    if (std::none_of(doubts_.begin(), doubts_.end(), is_same) && came_true(doubt, pid))
      doubts_.push_back({one, doubtful_deed(doubt)});
  }
}

void CodeWatch::begin_doubt_look(std::uint64_t until_ns) {
  for (; !told_.empty() && monotonic_ns() < until_ns; told_.pop_front()) take(told_.front());
  if (doubts_.empty()) return;
  doubted_ = std::exchange(doubts_, {});
  std::vector<CodeFile> files = probed_code(doubted_paths_);
  if (files.empty()) return;
  std::vector<CodeDoubt> asked;
  for (const Doubted& one : doubted_) asked.push_back(one.doubt);
  doubt_look_.emplace(scouts_, std::move(files), std::move(asked));
}

void CodeWatch::look_at_doubts(std::uint64_t now_ns, const Tell& tell) {
  if (!doubt_look_ && told_.empty()) return;
  const std::uint64_t began_ns = monotonic_ns();
  const std::uint64_t rested_ns = began_ns - std::exchange(time_given_ns_, began_ns);
  time_left_ns_ = std::min(kDoubtNs, time_left_ns_ + static_cast<std::int64_t>(rested_ns / kDoubtPart));
  const std::uint64_t until_ns = began_ns + static_cast<std::uint64_t>(std::max<std::int64_t>(time_left_ns_, 0));
  if (!doubt_look_) begin_doubt_look(until_ns);
  const std::uint64_t left_ns = until_ns - std::min(until_ns, monotonic_ns());
  const bool is_over = doubt_look_ && doubt_look_->go_on_for(static_cast<int>(left_ns / kMillisecondNs));
  time_left_ns_ -= static_cast<std::int64_t>(monotonic_ns() - began_ns);
  if (!is_over) return;
  for (const CodeFinding& finding : doubt_look_->take()) {
    const auto one = std::find_if(doubted_.begin(), doubted_.end(),
                                  [&](const Doubted& doubted) { return doubted.doubt.pid == finding.pid; });
    if (one != doubted_.end()) remove_probes(finding, doubted_paths_[finding.file], one->deed, now_ns, tell);
  }
  doubt_look_.reset();
}

void CodeWatch::work(std::uint64_t now_ns, const Tell& tell) {
  look_at_doubts(now_ns, tell);
  if (!look_ && now_ns >= next_ns_) begin(now_ns);
  if (look_ && look_->go_on()) end(now_ns, tell);
}

// Of all files that have probes, with their paths.
std::vector<CodeFile> CodeWatch::probed_code(std::vector<std::string>& paths) {
  std::vector<CodeFile> files;
  paths.clear();
  for (ProbedFile& file : backend_.probed_files()) {
    if (!file.code) continue;
    files.push_back(*file.code);
    paths.push_back(std::move(file.path));
  }
  return files;
}

void CodeWatch::begin(std::uint64_t now_ns) {
  std::vector<CodeFile> files = probed_code(paths_);
  next_ns_ = now_ns + kShortestRestNs;
  if (files.empty()) return;
  // What they do to their memory is not seen in it, and what the kernel side has left out, or did not see, is lost.
  for (const std::uint32_t pid : backend_.debugged_processes()) {
    usc_code_doubt debugged{};
    debugged.reason = USC_DOUBT_DEBUGGED;
    debugged.pid = pid;
    doubt(debugged);
  }
  look_.emplace(scouts_, std::move(files), running_processes(), true);
}

void CodeWatch::end(std::uint64_t now_ns, const Tell& tell) {
  const std::vector<CodeFinding> findings = look_->take();
  next_ns_ = now_ns + std::max(kShortestRestNs, kRestTimes * look_->took_ns());
  look_.reset();
  std::set<std::string> removed;
  std::set<std::pair<std::uint32_t, std::string>> unprobed;
  for (const CodeFinding& finding : findings) {
    const std::string& path = paths_[finding.file];
    if (finding.what == CodeFinding::What::kUnprobed) {
      // A mapping that is just being made has its breakpoints at the next look.
      if (unprobed.emplace(finding.pid, path).second && unprobed_.count({finding.pid, path}) != 0)
        count_unprobed(finding, now_ns, tell);
    } else if (removed.insert(path).second) {
      remove_probes(finding, path, deed_of(finding.what), now_ns, tell);
    }
  }
  unprobed_ = std::move(unprobed);
}

void CodeWatch::remove_probes(const CodeFinding& finding, const std::string& path, const std::string& deed,
                              std::uint64_t now_ns, const Tell& tell) {
  if (!backend_.remove_file_probes(path)) return;
  const bool is_translated = deed == deed_of(CodeFinding::What::kTranslated);
  tell({},
       {USC_LOSS_PROBE_REMOVED, now_ns, 1,
        fmt::format("process {} ({}) {} that has probes in {}: the file's probes were removed, and what is called in "
                    "it is not recorded from then on{}",
                    finding.pid, name_of(finding.pid), deed, path,
                    finding.what == CodeFinding::What::kInDoubt && !is_translated ? kWhereToLook : ""),
        path, true});
}

void CodeWatch::count_unprobed(const CodeFinding& finding, std::uint64_t now_ns, const Tell& tell) {
  const std::string& path = paths_[finding.file];
  const trace::ProcessId process = tasks_.process_of(finding.pid);
  if (process == trace::ProcessId() || !counted_.emplace(process, path).second) return;
  tell(process, {USC_LOSS_PROBE_NOT_THERE, now_ns, 1,
                 fmt::format("process {} ({}) has lost a probe in {}, as a debugger takes it along with its own "
                             "breakpoint: what it calls there is not recorded",
                             finding.pid, name_of(finding.pid), path),
                 ""});
}

}  // namespace uscope::tracer
