// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/bpf_file_probes.h"

#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <utility>

#include "support/regular_file.h"
#include "tracer/backend/load_failure.h"
#include "tracer/probes/kernel_probes.h"
#include "tracer/process/file_writers.h"
#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

constexpr int kNotSupported = 524;  // the kernel's ENOTSUPP, which has no name here

std::string remedy_of(int number) {
  switch (number) {
    case EPERM:
    case EACCES:
      return kProbePrivileges;
    case ENOENT:
      return "only files that exist when tracing begins can be probed";
    case EBADF:
      return "name an executable or a library: a regular file";
    case kNotSupported:
    case EILSEQ:
      return "leave it out: the kernel cannot probe the instruction there";
    case EINVAL:
      return "leave it out; if another tracer probes this place for a USDT probe, end that one";
    default:
      return bpf_remedy(number);
  }
}

Error cannot_probe(int number, const std::string& path, const std::string& name, const UprobePlaces& places) {
  const std::string what = places.size() == 1
                               ? fmt::format("cannot probe {} at {:#x} of {}", name, places.offsets[0], path)
                               : fmt::format("cannot probe {}", path);
  if (number == kNotSupported) return {what + ": not supported", remedy_of(number)};
  return errno_error(what, number, remedy_of(number));
}

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

// `identity`: which file it was when places were looked for; all zero: whichever.
Result<UniqueFd> open_probed(const std::string& path, const FileIdentity& identity) {
  auto fd = open_regular(path, "only files that exist when tracing begins can be probed");
  if (!fd) return fd;
  struct stat status {};
  if (identity != FileIdentity{} && (fstat(fd->get(), &status) != 0 || identity_of(status) != identity))
    return Error{"cannot probe " + path + ": it was replaced after it had been read", "try again"};
  return fd;
}

// Whoever has it open for writing changes it without asking anybody. Without a lease only processes here are known.
Result<void> refuse_open_for_writing(const std::string& path, const UniqueFd& fd, FileGuard::Kind kind) {
  struct stat status {};
  if (kind == FileGuard::Kind::kLease || fstat(fd.get(), &status) != 0) return {};
  const std::uint32_t pid = writer_of(identity_of(status));
  if (pid == 0 && kind == FileGuard::Kind::kNotice) return {};
  const std::string who = pid == 0 ? "" : fmt::format(" by process {} ({})", pid, name_of(pid));
  return Error{
      fmt::format("cannot probe {}: it is open for writing{}, and a file that is changed under its probes damages "
                  "the programs that use it",
                  path, who),
      pid == 0 ? "end who has it mapped for writing, or detach loop devices on it (losetup -j FILE)"
               : "try again when it has closed the file"};
}

std::string path_of(const UniqueFd& fd) {
  return fmt::format("/proc/self/fd/{}", fd.get());
}

}  // namespace

void BpfFileProbes::prepare(bpf_program* program, bool has_multi) {
  program_ = program;
  has_multi_ = has_multi;
}

Result<void> BpfFileProbes::attach(const std::vector<Probe>& plan) {
  std::map<std::string, InFile> files;
  std::size_t total = 0;
  ProbeNumbers number;
  for (std::size_t i = 0; i < plan.size(); i++) {
    number.probes = i;
    if (!is_in_file(plan[i])) continue;
    InFile& file = files[plan[i].path];
    file.path = plan[i].path;
    file.identity = plan[i].file;
    if (file.first.empty()) file.first = plan[i].name;
    add_places(plan[i], number, file.places);
  }
  for (const auto& [path, file] : files) total += file.places.size();
  if (!has_multi_ && total > kMostSingly)
    return Error{
        fmt::format("{} places in files are too many for this kernel, which attaches and detaches each by itself: "
                    "at most {}",
                    total, kMostSingly),
        "name fewer targets; Linux 6.6 and later attach many places at once"};
  for (auto& [path, file] : files) {
    if (file.places.size() == 0) continue;
    auto opened = open_probed(path, file.identity);
    if (!opened) return opened.error();
    file.fd = std::move(*opened);
    if (auto guarded = guard(std::move(file)); !guarded) return guarded;
    if (auto attached = attach_last(); !attached) return attached;
  }
  return {};
}

// First the guard: what is changed before probes are there does no harm.
Result<void> BpfFileProbes::guard(InFile file) {
  if (auto opened = guard_.open(); !opened) return opened.error();
  const std::size_t number = by_number_.size();
  const auto guarded = guard_.add(number, file.fd.get());
  if (!guarded) return guarded.error().in(file.path);
  if (auto refused = refuse_open_for_writing(file.path, file.fd, *guarded); !refused) {
    guard_.let_go(number);
    return refused;
  }
  files_.push_back(std::move(file));
  by_number_.push_back(&files_.back());
  return {};
}

Result<void> BpfFileProbes::attach_last() {
  InFile& file = files_.back();
  return has_multi_ ? attach_places(file, file.places) : attach_singly(file);
}

Result<void> BpfFileProbes::attach_file(int fd, const std::string& path, const std::vector<Probe>& probes,
                                        ProbeNumbers first) {
  InFile file;
  file.path = path;
  // An open file description of its own: a lease is one's.
  auto opened = open_probed(fmt::format("/proc/self/fd/{}", fd), {});
  if (!opened) return opened.error();
  file.fd = std::move(*opened);
  file.first = probes.front().name;
  for (const Probe& probe : probes) add_places(probe, first, file.places);
  if (auto guarded = guard(std::move(file)); !guarded) return guarded;
  return attach_last();
}

std::vector<ProbedFile> BpfFileProbes::probed() const {
  std::vector<ProbedFile> files;
  for (const InFile* file : by_number_) {
    if (file == nullptr) continue;
    ProbedFile& out = files.emplace_back();
    out.path = file->path;
    out.fd = file->fd.get();
    for (std::size_t i = 0; i < file->places.size(); i++)
      if ((file->places.cookies[i] & (USC_PLACE_OF_RETURN | USC_PLACE_OF_JUMP)) == 0)
        out.places.push_back(file->places.offsets[i]);
  }
  return files;
}

// All places, or none. If one of them cannot be probed, halves are tried until it is found which.
Result<void> BpfFileProbes::attach_places(InFile& file, const UprobePlaces& places) const {
  UniqueFd link = attach_uprobe_multi(bpf_program__fd(program_), path_of(file.fd), places);
  const int number = errno;
  if (link) {
    file.multi_links.push_back(std::move(link));
    return {};
  }
  const bool is_of_one_place = number == EINVAL || number == EILSEQ || number == kNotSupported;
  if (places.size() < 2 || !is_of_one_place) return cannot_probe(number, file.path, file.first, places);
  const std::size_t half = places.size() / 2;
  if (auto attached = attach_places(file, places.part(0, half)); !attached) return attached;
  return attach_places(file, places.part(half, places.size() - half));
}

Result<void> BpfFileProbes::attach_singly(InFile& file) const {
  for (std::size_t i = 0; i < file.places.size(); i++) {
    LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = file.places.semaphores[i],
                .bpf_cookie = file.places.cookies[i]);
    LinkHandle link(
        bpf_program__attach_uprobe_opts(program_, -1, path_of(file.fd).c_str(), file.places.offsets[i], &options));
    if (!link) return cannot_probe(errno, file.path, file.first, file.places.part(i, 1));
    file.links.push_back(std::move(link));
  }
  return {};
}

// In this order: whoever waits to change the file is let go when its probes are gone.
void BpfFileProbes::remove(std::size_t number) {
  InFile* file = std::exchange(by_number_[number], nullptr);
  if (file == nullptr) return;
  file->links.clear();
  file->multi_links.clear();
  guard_.let_go(number);
  file->fd.reset();
}

void BpfFileProbes::tend(std::uint64_t now_ns, const Backend::SourceLossHandler& tell) {
  for (const auto& [number, news] : guard_.take_changed(now_ns)) {
    const std::string path = by_number_[number]->path;
    remove(number);
    tell({USC_LOSS_PROBE_REMOVED, now_ns, 1,
          fmt::format("{} {}: its probes were removed{}, and what is called in it is not recorded from here on", path,
                      news == FileGuard::News::kOpened ? "was opened for writing or truncated" : "was changed",
                      news == FileGuard::News::kOpened ? " before it could be changed" : ""),
          path});
  }
}

void BpfFileProbes::detach() {
  for (std::size_t number = 0; number < by_number_.size(); number++) remove(number);
}

}  // namespace uscope::tracer
