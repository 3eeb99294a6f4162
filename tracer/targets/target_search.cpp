// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/target_search.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "support/glob.h"
#include "support/nearest.h"
#include "support/process/child_work.h"
#include "support/sandbox/confine.h"
#include "support/unique_fd.h"
#include "symbolizer/probes/file_probes.h"
#include "tracer/targets/answer_wire.h"
#include "tracer/targets/binary_search.h"
#include "tracer/targets/confined_search.h"
#include "tracer/targets/kernel_functions.h"
#include "tracer/targets/place_bytes.h"
#include "tracer/targets/tracepoints.h"

namespace uscope::tracer {
namespace {

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno != EINTR) return false;
    if (wrote > 0) bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

std::string read_all(int fd) {
  std::string bytes;
  std::array<char, 8192> piece{};
  while (bytes.size() < kMostAnswerBytes) {
    const ssize_t got = read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    bytes.append(piece.data(), static_cast<std::size_t>(got));
  }
  return bytes;
}

// What `work` returns, made by a child process without privileges.
Result<std::string> from_confined_child(const std::function<std::string()>& work) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return errno_error("cannot make a pipe", errno);
  const UniqueFd from_child(pipe_ends[0]);
  UniqueFd to_parent(pipe_ends[1]);
  auto child = ChildWork::start([&] { return answer_confined(to_parent.get(), work); });
  if (!child) return child.error();
  to_parent.reset();
  return read_all(from_child.get());
}

Result<std::vector<TargetAnswer>> search_binaries(const std::vector<Target>& targets, const TargetSearch& search) {
  std::vector<ApplicationFile> files;
  std::vector<std::uint32_t> unanswered;
  // Files and memory of other processes can be read with privileges only, and these processes may make it wait.
  auto scouts = Scouts::start();
  if (!scouts) return scouts.error();
  if (!search.application.pids.empty()) files = mapped_files(search.application.pids, **scouts, unanswered);
  const auto bytes = from_confined_child([&] {
    if (!search.application.program.empty())
      for (ApplicationFile& file : files_of_program(search.application.program)) files.push_back(std::move(file));
    BinarySearch binaries(std::move(files), search.with_arguments, may_use_nop5(search.host));
    std::vector<TargetAnswer> answers;
    answers.reserve(targets.size());
    for (const Target& target : targets) answers.push_back(binaries.find(target));
    return encode_answers(answers);
  });
  if (!bytes) return bytes.error();
  auto answers = decode_answers(*bytes);
  if (!answers || answers->size() != targets.size())
    return Error{"the process that looks for targets in programs and libraries has ended without an answer",
                 "one of these files may be damaged: name the others alone"};
  refuse_changed_code(scouts->get(), *answers);
  for (std::size_t i = 0; i < targets.size(); i++)
    if (TargetAnswer& answer = (*answers)[i];
        answer.matches.empty() && targets[i].binary.find('/') == std::string::npos)
      answer.problem.remedy = with_files_searched(answer.problem.remedy, search.application,
                                                  std::string(form_of(targets[i].what).name) + ":");
  if (!unanswered.empty())
    for (TargetAnswer& answer : *answers)
      if (answer.matches.empty())
        answer.problem.remedy =
            fmt::format("process {} did not say what it has mapped; {}", unanswered.front(), answer.problem.remedy);
  return answers;
}

// Whether a name is meant: "system:event", a function.
bool is_meant(const Target& target, std::string_view name) {
  return target.word.empty() || symbolizer::holds_word(name, target.word);
}

// What was perhaps meant; also an event whose name, behind that of its system, is near: sched:swich, sched_switch.
std::string near_tracepoints(const Target& target, const std::vector<TracepointName>& names) {
  std::vector<std::string> all;
  std::vector<std::string> tails;
  for (const TracepointName& name : names) {
    all.push_back(name.system + ":" + name.event);
    const std::size_t head = name.event.find('_');
    if (name.system == target.group && head != std::string::npos) tails.push_back(name.event.substr(head + 1));
  }
  if (std::string meant = did_you_mean(target.group + ":" + target.name, all); !meant.empty()) return meant;
  const std::vector<std::string> near = nearest(target.name, tails);
  std::string meant;
  for (const TracepointName& name : names)
    if (name.system == target.group && std::any_of(near.begin(), near.end(), [&](const std::string& tail) {
          return name.event.ends_with("_" + tail);
        }))
      meant += (meant.empty() ? "did you mean " : ", ") + name.system + ":" + name.event;
  return meant.empty() ? "`uscope list tracepoint` shows all of them" : meant + "?";
}

TargetAnswer find_tracepoints(const Target& target, const Host& host) {
  TargetAnswer answer;
  const auto folder = tracefs_folder(host);
  const auto names = folder ? tracepoints(*folder) : Result<std::vector<TracepointName>>(folder.error());
  if (!names) {
    answer.problem = names.error();
    return answer;
  }
  for (const TracepointName& name : *names) {
    const std::string both = name.system + ":" + name.event;
    if (!glob_matches(target.group, name.system) || !glob_matches(target.name, name.event) || !is_meant(target, both))
      continue;
    TargetMatch match{"tracepoint:" + both, {}, "", "", false};
    auto probe = read_tracepoint(*folder, name);
    if (probe) {
      match.probe = std::move(*probe);
      match.note = match.probe.not_kept;
    } else {
      match.probe.source = USC_SOURCE_TRACEPOINT;
      match.why_not = probe.error().what;
    }
    answer.matches.push_back(std::move(match));
  }
  if (!answer.matches.empty()) return answer;
  answer.problem = {fmt::format("{}: no such tracepoint", target.text), near_tracepoints(target, *names)};
  return answer;
}

// What is not known of a function's arguments, and why.
std::string kernel_note(const KernelFunction& function) {
  if (function.name.find('.') != std::string::npos)
    return "arguments are not known: the compiler has made this function out of another one";
  return fmt::format("arguments are not known: the type information (BTF) of {} has no such function",
                     function.module.empty() ? "the kernel" : "its module " + function.module);
}

void take_prototype(std::optional<KernelPrototype> prototype, const KernelFunction& function, TargetMatch& match) {
  Probe& probe = match.probe;
  if (!prototype) {
    match.note = kernel_note(function);
    // All of the register, whatever it means.
    if (probe.with_return) probe.result_bytes = sizeof(std::uint64_t);
    return;
  }
  probe.arguments = std::move(prototype->arguments);
  match.note = probe.not_kept = what_is_not_kept(prototype->too_many, {});
  if (!probe.with_return) return;
  probe.result_type = prototype->result_type;
  probe.result_bytes = prototype->result_bytes;
  probe.result_is_signed = prototype->result_is_signed;
}

TargetAnswer find_kernel_functions(const Target& target, const TargetSearch& search) {
  TargetAnswer answer;
  const auto functions = kernel_functions(search.host, search.kernel_functions, [&target](std::string_view name) {
    return glob_matches(target.name, name) && is_meant(target, name);
  });
  if (!functions) {
    answer.problem = functions.error();
    return answer;
  }
  const std::string why_none = why_no_kernel_functions(search.host, search.kernel_functions, target.with_return);
  std::optional<KernelTypes> types;
  std::map<std::uint64_t, std::string> taken;  // one place is one function, by whatever name
  for (const KernelFunction& function : *functions) {
    if (!types && search.with_arguments) types.emplace(search.host);
    TargetMatch match;
    match.target = fmt::format("kfunction:{}{}", function.name, target.with_return ? kReturnSuffix : "");
    match.why_not = why_none.empty() ? function.why_not : why_none;
    if (match.why_not.empty() && target.with_return) match.why_not = why_no_return(function, search.kernel_functions);
    match.probe.source = USC_SOURCE_KFUNCTION;
    match.probe.name = function.name;
    match.probe.places = {function.address};
    match.probe.with_return = target.with_return;
    if (match.why_not.empty()) {
      const auto [place, is_new] = taken.emplace(function.address, function.name);
      if (!is_new) match.why_not = "it is another name of " + place->second;
    }
    if (types) take_prototype(types->prototype(function), function, match);
    answer.matches.push_back(std::move(match));
  }
  if (!answer.matches.empty()) return answer;
  const auto all = kernel_functions(search.host, search.kernel_functions);
  if (!all) {
    answer.problem = all.error();
    return answer;
  }
  std::vector<std::string> names;
  for (const KernelFunction& function : *all)
    if (names.empty() || names.back() != function.name) names.push_back(function.name);
  const std::string meant = did_you_mean(target.name, names);
  answer.problem = {fmt::format("{}: the kernel has no such function", target.text),
                    meant.empty() ? "`uscope list kfunction` shows all of them" : meant};
  return answer;
}

TargetAnswer plain_answer(const Target& target) {
  TargetAnswer answer;
  const TargetForm& form = form_of(target.what);
  const bool sample = target.what == TargetClass::kSample;
  if (!is_meant(target, form.name) || (!target.name.empty() && !glob_matches(target.name, form.name))) return answer;
  TargetMatch& match = answer.matches.emplace_back();
  match.target = sample ? fmt::format("sample:{}", target.hz) : form.name;
  match.probe.source = sample ? USC_SOURCE_SAMPLE : USC_SOURCE_OFFCPU;
  match.probe.name = match.target;
  return answer;
}

}  // namespace

bool is_in_binaries(const Target& target) {
  return target.what == TargetClass::kUsdt || target.what == TargetClass::kUfunction;
}

bool may_use_nop5(const Host& host) {
  int major = 0;
  int minor = 0;
  std::sscanf(host.release.c_str(), "%d.%d", &major, &minor);
  return major < 6 || (major == 6 && minor < 18);
}

int answer_confined(int fd, const std::function<std::string()>& work) {
  if (const auto confined = confine({}); !confined) return 1;
  return write_all(fd, work()) ? 0 : 1;
}

Result<std::vector<TargetAnswer>> search_targets(std::span<const Target> targets, const TargetSearch& search) {
  std::vector<Target> in_binaries;
  std::copy_if(targets.begin(), targets.end(), std::back_inserter(in_binaries), is_in_binaries);
  std::vector<TargetAnswer> from_binaries;
  if (!in_binaries.empty()) {
    auto found = search_binaries(in_binaries, search);
    if (!found) return found.error();
    from_binaries = std::move(*found);
  }
  std::vector<TargetAnswer> answers;
  std::size_t next = 0;
  for (const Target& target : targets) {
    if (is_in_binaries(target))
      answers.push_back(std::move(from_binaries[next++]));
    else if (target.what == TargetClass::kTracepoint)
      answers.push_back(find_tracepoints(target, search.host));
    else if (target.what == TargetClass::kKfunction)
      answers.push_back(find_kernel_functions(target, search));
    else
      answers.push_back(plain_answer(target));
  }
  return answers;
}

}  // namespace uscope::tracer
