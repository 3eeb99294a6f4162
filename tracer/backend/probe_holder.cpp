// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/probe_holder.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <utility>

#include "support/clock.h"
#include "support/end_signals.h"
#include "support/process/close_elsewhere.h"
#include "support/regular_file.h"
#include "tracer/backend/load_failure.h"
#include "tracer/backend/uprobe_single.h"
#include "tracer/probes/kernel_probes.h"
#include "tracer/process/file_writers.h"
#include "tracer/process/process_list.h"
#include "tracer/process/thread_state.h"
#include "tracer/scouts/standstill.h"

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

// Whoever has it open for writing changes it without asking anybody. Without a lease only processes here are known.
Result<void> refuse_open_for_writing(const std::string& path, const UniqueFd& fd, FileGuard::Kind kind) {
  struct stat status {};
  if (kind == FileGuard::Kind::kLease || fstat(fd.get(), &status) != 0) return {};
  const std::uint32_t pid = writer_of(identity_of(status));
  if (pid == 0 && kind == FileGuard::Kind::kNotice) return {};
  // Without a process: it is only mapped, or the kernel has it, or somebody is just opening it and waits for another
  // lease.
  const std::string who = pid == 0 ? ", or is being opened" : fmt::format(" by process {} ({})", pid, name_of(pid));
  return Error{
      fmt::format("cannot probe {}: it is open for writing{}, and a file that is changed under its probes damages "
                  "the programs that use it",
                  path, who),
      pid == 0 ? "try again; then end who has it mapped for writing, or detach loop devices on it (losetup -j FILE)"
               : "try again when it has closed the file"};
}

std::string path_of(const UniqueFd& fd) {
  return fmt::format("/proc/self/fd/{}", fd.get());
}

// If one of the places cannot be probed, halves are tried until it is found which.
Result<void> attach_at_once(const UniqueFd& file, int program, const PlacesInFile& what, const UprobePlaces& places,
                            std::vector<UniqueFd>& links) {
  UniqueFd link = attach_uprobe_multi(program, path_of(file), places);
  const int number = errno;
  if (link) {
    links.push_back(std::move(link));
    return {};
  }
  const bool is_of_one_place = number == EINVAL || number == EILSEQ || number == kNotSupported;
  if (places.size() < 2 || !is_of_one_place) return cannot_probe(number, what.path, what.first, places);
  const std::size_t half = places.size() / 2;
  if (auto attached = attach_at_once(file, program, what, places.part(0, half), links); !attached) return attached;
  return attach_at_once(file, program, what, places.part(half, places.size() - half), links);
}

Result<void> attach_singly(const UniqueFd& file, int program, const PlacesInFile& what, std::vector<UniqueFd>& links) {
  for (std::size_t i = 0; i < what.places.size(); i++) {
    SingleUprobe probe = attach_single_uprobe(program, path_of(file), what.places.offsets[i], what.places.cookies[i],
                                              what.places.semaphores[i]);
    if (!probe.link) return cannot_probe(errno, what.path, what.first, what.places.part(i, 1));
    links.push_back(std::move(probe.link));
    links.push_back(std::move(probe.event));
  }
  return {};
}

// An open file description of its own: a lease is one's. Whoever watches who opens the file (fanotify) may not answer:
// a SIGTERM ends this process then, which is at no work with probes.
Result<UniqueFd> open_anew(int file) {
  const SignalsLetThrough end(std::array{SIGTERM});
  return open_regular(fmt::format("/proc/self/fd/{}", file), "");
}

// Returns when the kernel has removed the probes. As long as that gets on, this process does so, too, for whoever
// watches it (standstill.h).
void remove_probes(std::vector<UniqueFd> links) {
  constexpr int kWaitMs = 5;
  const pid_t child = close_in_child(std::move(links));
  if (child == 0) return;
  Standstill standstill;
  bool gets_on = true;
  while (waitpid(child, nullptr, gets_on ? WNOHANG : 0) == 0) {
    gets_on = !standstill.is_over(monotonic_ns(), thread_state_of(static_cast<std::uint32_t>(child)));
    (void)poll(nullptr, 0, kWaitMs);
  }
}

}  // namespace

// First the guard: what is changed before probes are there does no harm.
Result<void> ProbeHolder::guard(std::size_t number, const Held& held, const std::string& path) {
  if (auto opened = guard_.open(); !opened) return opened;
  const auto guarded = guard_.add(number, held.file.get());
  if (!guarded) return guarded.error().in(path);
  auto refused = refuse_open_for_writing(path, held.file, *guarded);
  if (!refused) guard_.let_go(number);
  return refused;
}

Result<void> ProbeHolder::attach(std::size_t number, int file, int program, bool has_multi, const PlacesInFile& what) {
  Held held;
  auto opened = open_anew(file);
  if (!opened) return opened.error();
  held.file = std::move(*opened);
  if (auto guarded = guard(number, held, what.path); !guarded) return guarded;
  auto attached = has_multi ? attach_at_once(held.file, program, what, what.places, held.links)
                            : attach_singly(held.file, program, what, held.links);
  files_[number] = std::move(held);
  if (!attached) remove(number);
  return attached;
}

// In this order: whoever waits to change the file is let go when its probes are gone.
bool ProbeHolder::remove(std::size_t number) {
  const auto at = files_.find(number);
  if (at == files_.end()) return true;
  remove_probes(std::move(at->second.links));
  const bool was_held = guard_.let_go(number);
  files_.erase(at);
  return was_held;
}

void ProbeHolder::remove_all() {
  std::vector<UniqueFd> links;
  for (auto& [number, held] : files_) {
    std::move(held.links.begin(), held.links.end(), std::back_inserter(links));
    held.links.clear();
  }
  remove_probes(std::move(links));
  while (!files_.empty()) remove(files_.begin()->first);
}

FileGuard::Changes ProbeHolder::tend(std::uint64_t now_ns) {
  FileGuard::Changes changes = guard_.take_changed(now_ns);
  for (auto& [number, news] : changes)
    if (!remove(number) && news == FileGuard::News::kOpened) news = FileGuard::News::kLate;
  return changes;
}

}  // namespace uscope::tracer
