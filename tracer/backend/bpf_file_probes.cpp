// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/bpf_file_probes.h"

#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <utility>

#include "support/end_signals.h"
#include "support/regular_file.h"
#include "tracer/process/process_list.h"
#include "tracer/scouts/code_look.h"
#include "tracer/scouts/foreign_code.h"
#include "uscope/probes.h"

namespace uscope::tracer {
namespace {

// `number`: of an indirect jump among those of the plan, from 1; else 0.
std::uint64_t role_of(const ProbeJump& jump, std::uint64_t number) {
  std::uint64_t role = USC_PLACE_OF_JUMP | std::uint64_t{jump.condition} << USC_PLACE_CONDITION_SHIFT;
  if (jump.again) role |= USC_PLACE_AGAIN;
  if (jump.may_return) role |= USC_PLACE_OF_RETURN;
  if (jump.indirect && jump.indirect->pops != 0) role |= USC_PLACE_POPS;
  return role | number << USC_PLACE_INDIRECT_SHIFT;
}

// Adds the places of the next probe of a plan. `number`: how many probes and indirect jumps came before it.
void add_places(const Probe& probe, ProbeNumbers& number, UprobePlaces& places) {
  const auto add = [&](std::uint64_t offset, std::uint64_t role) {
    places.offsets.push_back(offset);
    places.cookies.push_back(number.probes | role);
    places.semaphores.push_back(probe.semaphore);
  };
  // In this order they are attached: an entry whose return is not seen would be taken for left.
  for (const std::uint64_t place : probe.returns) add(place, USC_PLACE_OF_RETURN);
  for (const ProbeJump& jump : probe.jumps) add(jump.place, role_of(jump, jump.indirect ? ++number.jumps : 0));
  for (const std::uint64_t place : probe.places) add(place, 0);
  number.probes++;
}

void add_unforced(const Probe& probe, std::vector<std::uint64_t>& places) {
  if (probe.forced) return;
  const std::vector<std::uint64_t> all = all_places(probe);
  places.insert(places.end(), all.begin(), all.end());
}

// Tells of each place in the file which instruction stands there: the first byte, which 0 tells nothing of.
void add_code(int fd, UprobePlaces& places) {
  for (std::size_t i = 0; i < places.size(); i++) {
    std::uint8_t code = 0;
    if (pread(fd, &code, sizeof(code), static_cast<off_t>(places.offsets[i])) == sizeof(code))
      places.cookies[i] |= std::uint64_t{code} << USC_PLACE_CODE_SHIFT;
  }
}

std::string why_removed(FileGuard::News news) {
  switch (news) {
    case FileGuard::News::kOpened:
      return "was opened for writing or truncated: its probes were removed before it could be changed";
    case FileGuard::News::kLate:
      return "was opened for writing or truncated, and may have been changed before its probes were removed, since "
             "uscope-guard did not run as long as the kernel waits (fs.lease-break-time)";
    case FileGuard::News::kChanged:
      break;
  }
  return "was changed: its probes were removed";
}

// `identity`: which file it was when places were looked for; all zero: whichever.
Result<UniqueFd> open_probed(const std::string& path, const FileIdentity& identity) {
  auto fd = open_regular(path, "only files that exist when tracing begins can be probed");
  if (!fd) return fd;
  struct stat status {};
  if (identity != FileIdentity{} && (fstat(fd->get(), &status) != 0 || identity_of(status) != identity))
    return Error{"cannot probe " + path + ": it was replaced after it had been read", "try again"};
  return fd;
}

}  // namespace

Result<void> BpfFileProbes::prepare(bpf_program* program, bool has_multi) {
  program_ = program;
  has_multi_ = has_multi;
  auto guard = ProbeGuard::start();
  if (!guard) return guard.error();
  guard_ = std::move(*guard);
  return {};
}

Result<void> BpfFileProbes::attach(const std::vector<Probe>& plan, const Debugged& debugged) {
  std::map<std::string, InFile> files;
  std::size_t total = 0;
  ProbeNumbers number;
  for (std::size_t i = 0; i < plan.size(); i++) {
    number.probes = i;
    if (!is_in_file(plan[i])) continue;
    InFile& file = files[plan[i].path];
    file.what.path = plan[i].path;
    file.identity = plan[i].file;
    if (file.what.first.empty()) file.what.first = plan[i].name;
    add_places(plan[i], number, file.what.places);
    add_unforced(plan[i], file.unforced);
  }
  for (const auto& [path, file] : files) total += file.what.places.size();
  if (!has_multi_ && total > kMostSingly)
    return Error{
        fmt::format("{} places in files are too many for this kernel, which attaches and detaches each by itself: "
                    "at most {}",
                    total, kMostSingly),
        "name fewer targets; Linux 6.6 and later attach many places at once"};
  for (auto& [path, file] : files) {
    if (file.what.places.size() == 0) continue;
    {
      // Whoever serves the file, or watches who opens it (fanotify), may not answer: Ctrl-C ends the start.
      const SignalsLetThrough ends(kEndSignals);
      auto opened = open_probed(path, file.identity);
      if (!opened) return opened.error();
      file.fd = std::move(*opened);
      read_file(file);
    }
    if (auto attached = attach(std::move(file), debugged); !attached) return attached;
  }
  return {};
}

// All that is needed of it later.
void BpfFileProbes::read_file(InFile& file) {
  add_code(file.fd.get(), file.what.places);
  struct stat status {};
  if (file.unforced.empty() || fstat(file.fd.get(), &status) != 0) return;
  file.code = std::make_shared<CodeFile>(read_code(file.fd.get(), status, file.unforced));
}

// Who has a debugger may have read what stands there by now, and not written anything yet.
Result<void> BpfFileProbes::refuse_debugged(const InFile& file, const Debugged& debugged) {
  if (debugged.pids.empty() || !file.code) return {};
  std::vector<CodeDoubt> asked;
  for (const std::uint32_t pid : debugged.pids) asked.push_back({.pid = pid});
  CodeLook look(debugged.scouts, {*file.code}, std::move(asked));
  look.finish();
  if (!look.silent().empty())
    return Error{fmt::format("cannot probe {}: {}", file.what.path, why_silent(look.silent().front())), ""};
  const std::vector<CodeFinding> findings = look.take();
  if (findings.empty()) return {};
  const std::uint32_t pid = findings.front().pid;
  const std::uint32_t by = tracing_process_of(pid);
  return Error{
      fmt::format("cannot probe {}: process {} ({}) is debugged by process {} ({}), and probes would hide breakpoints",
                  file.what.path, pid, name_of(pid), by, name_of(by)),
      "end the debugger, or name targets in other files; one that attaches by PTRACE_SEIZE, as strace does, is no "
      "hindrance"};
}

Result<void> BpfFileProbes::attach(InFile file, const Debugged& debugged) {
  if (!guard_) return Error{"no process holds probes in files", ""};
  if (auto refused = refuse_debugged(file, debugged); !refused) return refused;
  auto attached = guard_->attach(files_.size(), file.fd.get(), bpf_program__fd(program_), has_multi_, file.what);
  files_.push_back(std::move(file));
  files_.back().is_probed = static_cast<bool>(attached);
  return attached;
}

Result<void> BpfFileProbes::attach_file(int fd, const std::string& path, const std::vector<Probe>& probes,
                                        ProbeNumbers first, const Debugged& debugged) {
  InFile file;
  file.what.path = path;
  auto opened = open_probed(fmt::format("/proc/self/fd/{}", fd), {});
  if (!opened) return opened.error();
  file.fd = std::move(*opened);
  file.what.first = probes.front().name;
  for (const Probe& probe : probes) {
    add_places(probe, first, file.what.places);
    add_unforced(probe, file.unforced);
  }
  read_file(file);
  return attach(std::move(file), debugged);
}

std::vector<ProbedFile> BpfFileProbes::probed() const {
  std::vector<ProbedFile> files;
  for (const InFile& file : files_) {
    if (!file.is_probed) continue;
    ProbedFile& out = files.emplace_back();
    out.path = file.what.path;
    out.fd = file.fd.get();
    out.code = file.code;
    const UprobePlaces& places = file.what.places;
    for (std::size_t i = 0; i < places.size(); i++)
      if ((places.cookies[i] & (USC_PLACE_OF_RETURN | USC_PLACE_OF_JUMP)) == 0) out.places.push_back(places.offsets[i]);
  }
  return files;
}

bool BpfFileProbes::remove(const std::string& path) {
  bool any = false;
  for (std::size_t number = 0; number < files_.size(); number++) {
    InFile& file = files_[number];
    if (file.what.path != path || !std::exchange(file.is_probed, false)) continue;
    guard_->remove(number);
    file.fd.reset();
    any = true;
  }
  return any;
}

void BpfFileProbes::tell_removed(std::size_t number, std::uint64_t time_ns, const std::string& why,
                                 const Backend::SourceLossHandler& tell) {
  InFile& file = files_[number];
  if (!std::exchange(file.is_probed, false)) return;
  file.fd.reset();
  tell({USC_LOSS_PROBE_REMOVED, time_ns, 1,
        fmt::format("{} {}, and what is called in it is not recorded from then on", file.what.path, why),
        file.what.path});
}

void BpfFileProbes::tend(std::uint64_t now_ns, const Backend::SourceLossHandler& tell) {
  if (!guard_) return;
  for (const ProbeGuard::Removed& removed : guard_->take_removed())
    tell_removed(removed.number, removed.time_ns, why_removed(removed.news), tell);
  if (!guard_->has_ended()) return;
  for (std::size_t number = 0; number < files_.size(); number++)
    tell_removed(number, now_ns, "has lost its probes: the process that holds them (uscope-guard) was ended", tell);
}

// What the guard had to tell is told by tend(), which is called once more.
void BpfFileProbes::detach() {
  if (guard_) guard_->end();
}

}  // namespace uscope::tracer
