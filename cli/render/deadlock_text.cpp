// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The verdict, then each finding: an explanation in sentences, then each thread with the application's frames and the
// library's frames that led into the kernel. Last, the threads that wait behind those of the findings, and what the
// others wait in.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "cli/render/part_text.h"
#include "cli/render/text_table.h"
#include "cli/terminal/text_width.h"
#include "support/text.h"

#include "cli/render/deadlock_render.h"

namespace uscope::cli {
namespace {

using analyzer::BlockedThread;
using analyzer::StackLine;

constexpr const char* kWhatIsShown =
    "the waits that went on at its end; who holds them up is looked for among all threads";
constexpr std::size_t kFrames = 12;  // the application's frames of one thread
constexpr std::size_t kAllFrames = 512;
constexpr std::size_t kThreads = 16;  // threads of one finding shown with their stacks
constexpr std::size_t kBlocked = 10;  // other threads, one line each
constexpr std::size_t kOthers = 12;   // lines of threads in other calls
constexpr std::size_t kListed = 4;    // threads in one of these lines
constexpr std::size_t kOpenings = 4;  // descriptors of one finding whose origin is told

template <typename Thread>
std::string waited(const Thread& thread) {
  return std::string(thread.at_least ? "at least " : "") + human_duration(static_cast<double>(thread.waited_ns));
}

// "thread 12 `worker` of app (pid 10)".
template <typename Thread>
std::string who(const Thread& thread) {
  std::string text = fmt::format("thread {}", thread.tid);
  if (!thread.name.empty()) text += fmt::format(" `{}`", printable(thread.name));
  if (!thread.process.empty()) text += fmt::format(" of {} (pid {})", printable(thread.process), thread.pid);
  return text;
}

std::string header(const BlockedThread& thread) {
  std::string text = who(thread) + ", ";
  if (!thread.wait.empty()) text += "in " + printable(thread.wait) + ", ";
  if (!thread.halted.empty()) return text + printable(thread.halted);
  text += "waiting for " + waited(thread);
  const bool threads = thread.held_by.size() > 1;
  for (std::size_t i = 0; i < thread.held_by.size(); i++) {
    if (i == kFrames) return text + " …";
    text += fmt::format("{}{}",
                        i > 0                 ? ", "
                        : thread.wait.empty() ? threads ? ", for threads " : ", for thread "
                        : threads             ? ", for processes "
                                              : ", for process ",
                        thread.held_by[i]);
  }
  return text;
}

std::string frame(const StackLine& line) {
  std::string text = printable(line.function);
  if (!line.module.empty() && !line.function.starts_with(line.module)) text += "  " + printable(line.module);
  if (!line.file.empty()) text += fmt::format("  {}:{}", printable(line.file), line.line);
  return text;
}

// A line, and what does not fit into it further in.
std::string line_of(std::size_t indent, const std::string& text, TextWidth width) {
  return std::string(indent, ' ') + wrapped(text, width.columns, indent + 2) + "\n";
}

// The application's frames, innermost first, from the function on that waits, then the frames between it and the
// kernel: those of libraries, and the functions around a lock that the application has from a library.
std::string stack(const analyzer::StackLines& lines, TextWidth width, std::size_t most = kFrames) {
  std::string out;
  const StackLine* waits = analyzer::application_frame(lines);
  const auto first =
      std::find_if(lines.begin(), lines.end(), [&](const StackLine& line) { return line.app && &line == waits; });
  std::size_t shown = 0;
  for (auto line = first; line != lines.end(); ++line) {
    if (!line->app) continue;
    if (shown++ == most) {
      out += "      …\n";
      break;
    }
    out += line_of(6, frame(*line), width);
  }
  std::string through;
  std::string last;
  for (auto line = lines.begin(); line != first; ++line) {
    const std::string name = printable(line->function);
    if (name != last) through += (through.empty() ? "" : " ← ") + name;
    last = name;
  }
  if (!through.empty()) out += line_of(6, "through " + through, width);
  return out;
}

constexpr std::size_t kColumns = 10;

// The heading of a paragraph, padded to the column in which the sentences start.
std::string heading_cell(std::string_view heading, TextWidth width, Ink ink = Ink::kHeading) {
  return width.paint(ink, heading) + std::string(kColumns - heading.size(), ' ');
}

// "pipe2 in make_pipe: thread 12 of process 12".
std::string step_text(const analyzer::OpeningStep& step) {
  std::string text = step.call;
  if (step.fd >= 0) text += fmt::format(" (as descriptor {})", step.fd);
  if (const StackLine* line = analyzer::application_frame(step.stack)) text += " in " + printable(line->function);
  return text + (step.tid == step.pid ? fmt::format(": process {}", step.pid)
                                      : fmt::format(": thread {} of process {}", step.tid, step.pid));
}

std::string openings(const analyzer::Finding& finding, TextWidth width) {
  std::string out;
  std::size_t shown = 0;
  for (const analyzer::Opening& opening : finding.openings) {
    if (shown++ == kOpenings) {
      return out +
             fmt::format("    and {} more descriptors (--format json has all)\n", finding.openings.size() - kOpenings);
    }
    out += line_of(4,
                   fmt::format("descriptor {}<{}> of {} (pid {}) comes from:", opening.fd, printable(opening.object),
                               opening.process.empty() ? "process" : printable(opening.process), opening.pid),
                   width);
    for (const analyzer::OpeningStep& step : opening.steps) out += line_of(6, step_text(step), width);
  }
  return out;
}

std::string finding_text(const analyzer::Finding& finding, TextWidth width) {
  const bool deadlock = finding.verdict == analyzer::Verdict::kDeadlock;
  std::string out = paragraph(heading_cell(deadlock ? "DEADLOCK" : "STALL", width, Ink::kBad),
                              printable(finding.explanation), width.columns) +
                    "\n";
  for (std::size_t i = 0; i < finding.threads.size(); i++) {
    if (i == kThreads) {
      out += fmt::format("    and {} more threads (--format json has all)\n", finding.threads.size() - i);
      break;
    }
    const std::string lines = stack(finding.threads[i].stack, width);
    // Threads in the same place are told once.
    std::size_t same = i + 1;
    while (i >= 2 && same < finding.threads.size() && stack(finding.threads[same].stack, width) == lines) same++;
    out += line_of(4, header(finding.threads[i]), width) + lines;
    if (same > i + 1) {
      out += fmt::format("    and {} {} in the same place\n", same - i - 1, same == i + 2 ? "other" : "others");
      i = same - 1;
    }
  }
  return out + openings(finding, width) + "\n";
}

// "a condition variable, in pop".
std::string futex_text(const BlockedThread& thread) {
  const StackLine* line = analyzer::application_frame(thread.stack);
  return printable(thread.lock) + (line ? ", in " + printable(line->function) : std::string());
}

// Threads of one name that wait in one place are told together, as in other_line().
std::string blocked_line(const std::vector<const BlockedThread*>& threads, TextWidth width) {
  const BlockedThread& first = *threads[0];
  if (threads.size() == 1) return line_of(4, header(first) + ": " + futex_text(first), width);
  std::string text = fmt::format("{}: {} threads, the longest {}", futex_text(first), threads.size(), header(first));
  for (std::size_t i = 1; i < std::min(threads.size(), kListed); i++)
    text += fmt::format("{}{}", i == 1 ? "; also " : ", ", threads[i]->tid);
  return line_of(4, text + (threads.size() > kListed ? " …" : ""), width);
}

std::string others(const analyzer::Diagnosis& diagnosis, TextWidth width, bool stacks) {
  std::set<std::int64_t> accused;
  for (const auto& finding : diagnosis.findings)
    for (const auto& thread : finding.threads) accused.insert(thread.tid);
  using Place = std::tuple<std::string, std::string, std::string, std::vector<std::int64_t>>;
  std::vector<std::vector<const BlockedThread*>> groups;
  std::map<Place, std::size_t> places;
  std::size_t count = 0;
  for (const BlockedThread& thread : diagnosis.blocked) {
    if (accused.contains(thread.tid)) continue;
    count++;
    const auto [place, is_new] =
        places.try_emplace({thread.name, futex_text(thread), thread.halted, thread.held_by}, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(&thread);
  }
  if (count == 0) return "";
  std::string out;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < groups.size() && i < kBlocked; i++) {
    const auto longest = [](auto* a, auto* b) { return a->waited_ns < b->waited_ns; };
    std::iter_swap(groups[i].begin(), std::max_element(groups[i].begin(), groups[i].end(), longest));
    shown += groups[i].size();
    out += blocked_line(groups[i], width);
    if (stacks) out += stack(groups[i][0]->stack, width, kAllFrames);
  }
  if (count > shown) out += fmt::format("    and {} more (--format json has all)\n", count - shown);
  return fmt::format("{}{}{}{} for a futex:\n{}", heading_cell(accused.empty() ? "WAITING" : "BEHIND", width), count,
                     accused.empty() ? " " : " other ", count == 1 ? "thread waits" : "threads wait", out);
}

// "read of /tmp/fifo in main: thread 12 `worker` of app (pid 10), for 3.000 s".
std::string other_line(const analyzer::OtherWait& wait) {
  std::string text = printable(wait.wait.empty() ? wait.call : wait.wait);
  if (!wait.wait.empty()) {
    // It names the descriptors.
  } else if (!wait.object.name.empty()) {
    text += fmt::format(" of {}{}", printable(wait.object.name), wait.object.doubtful ? " (probably)" : "");
  } else if (wait.object.number) {
    text += fmt::format(" of descriptor {}", *wait.object.number);
  }
  const std::vector<std::string> chain = analyzer::application_chain(wait.stack);
  if (!wait.function.empty() && chain.empty()) text += " in " + printable(wait.function);
  for (std::size_t i = 0; i < chain.size() && !wait.function.empty(); i++)
    text += (i == 0 ? " in " : " ← ") + printable(chain[i]);
  if (!wait.halted.empty()) text += ", " + printable(wait.halted);
  const auto& threads = wait.threads;
  if (threads.size() == 1) return text + fmt::format(": {}, for {}", who(threads[0]), waited(threads[0]));
  text += fmt::format(": {} threads, the longest for {}: {}", threads.size(), waited(threads[0]), who(threads[0]));
  for (std::size_t i = 1; i < std::min(threads.size(), kListed); i++) text += fmt::format(", {}", threads[i].tid);
  return text + (threads.size() > kListed ? " …" : "");
}

// Who could end it, unless the verdict has told already.
std::string ended_by(const analyzer::Diagnosis& diagnosis, const analyzer::OtherWait& wait) {
  if (wait.ended_by.empty() || diagnosis.reason.find(wait.ended_by) != std::string::npos) return "";
  return "; can be ended by " + printable(wait.ended_by);
}

// Those behind the threads of findings, or the others that no finding names.
std::string other_waits(const analyzer::Diagnosis& diagnosis, TextWidth width, bool stacks, bool behind) {
  std::vector<const analyzer::OtherWait*> waits;
  std::size_t count = 0;
  for (const auto& wait : diagnosis.other_waits) {
    if (wait.accused || wait.behind != behind) continue;
    waits.push_back(&wait);
    count += wait.threads.size();
  }
  if (count == 0) return "";
  std::string out =
      heading_cell(behind ? "BEHIND" : "WAITING", width) +
      (count == 1 ? "1 thread waits in another call:\n" : fmt::format("{} threads wait in other calls:\n", count));
  for (std::size_t i = 0; i < waits.size(); i++) {
    if (i == kOthers && waits.size() > kOthers + 1)
      return out + fmt::format("    and {} more kinds (--format json has all)\n", waits.size() - i);
    out += line_of(4, other_line(*waits[i]) + ended_by(diagnosis, *waits[i]), width);
    if (stacks) out += stack(waits[i]->stack, width, kAllFrames);
  }
  return out;
}

// Threads that make no calls, and wait for nothing.
std::string computing(const analyzer::Diagnosis& diagnosis, TextWidth width) {
  const auto& threads = diagnosis.computing;
  if (threads.empty()) return "";
  std::string out =
      paragraph(heading_cell("COMPUTING", width),
                fmt::format("{} no call: it computes, waits for a processor, or is stopped. GAPS of "
                            "`uscope report` tells after which call:",
                            threads.size() == 1 ? "1 thread makes" : fmt::format("{} threads make", threads.size())),
                width.columns);
  for (std::size_t i = 0; i < threads.size(); i++) {
    if (i == kBlocked) return out + fmt::format("    and {} more (--format json has all)\n", threads.size() - i);
    std::string text =
        fmt::format("{}: no call for {}", who(threads[i]), human_duration(static_cast<double>(threads[i].idle_ns)));
    const std::size_t waiting = threads[i].waited_by.size();
    if (waiting == 1) text += fmt::format("; thread {} waits for it", threads[i].waited_by.front());
    if (waiting > 1) text += fmt::format("; {} threads wait for it", waiting);
    out += line_of(4, text, width);
  }
  return out;
}

}  // namespace

std::string deadlock_text(const analyzer::Diagnosis& diagnosis, TextWidth width, bool stacks) {
  std::string out;
  if (diagnosis.part) out += part_line(*diagnosis.part, diagnosis.trace_ns, kWhatIsShown, width) + "\n";
  for (const auto& finding : diagnosis.findings) out += finding_text(finding, width);
  if (diagnosis.findings.empty()) {
    const bool undecided = diagnosis.verdict == analyzer::Verdict::kUndecided;
    const std::string head = undecided ? heading_cell("UNDECIDED", width, Ink::kDoubt)
                                       : width.paint(Ink::kHeading, "NO DEADLOCK FOUND") + "  ";
    out += paragraph(head, printable(diagnosis.reason), width.columns, kColumns);
  }
  out += others(diagnosis, width, stacks);
  out += other_waits(diagnosis, width, stacks, true);
  out += other_waits(diagnosis, width, stacks, false);
  out += computing(diagnosis, width);
  for (const std::string& warning : diagnosis.warnings)
    out += paragraph(heading_cell("WARNING", width, Ink::kDoubt), printable(warning), width.columns);
  return out;
}

}  // namespace uscope::cli
