// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/jit_code.h"

#include <sys/uio.h>

#include "support/clock.h"

namespace uscope::tracer {
namespace {

// After this much time of asking, a tenth of the time that passes is left for it (WaitingDebt): programs may have very
// many places in compiled code, and most of them keep a frame pointer.
constexpr double kMostDebtMs = 100;

void read_code(ScoutDesk& desk) {
  ScoutReader in(desk.request().bytes);
  const auto pid = in.get<std::uint32_t>();
  const auto pc = in.get<std::uint64_t>();
  std::uint64_t code = 0;
  const iovec local = {&code, sizeof(code)};
  const iovec remote = {reinterpret_cast<void*>(pc), sizeof(code)};  // NOLINT(performance-no-int-to-ptr)
  const bool is_read = process_vm_readv(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0) == sizeof(code);
  desk.answer(ScoutWriter().put(is_read).put(code).bytes());
}

}  // namespace

std::optional<std::uint64_t> JitCode::at(trace::MmId mm, std::uint32_t pid, std::uint64_t pc) {
  const auto known = known_.find({mm, pc});
  if (known != known_.end()) return known->second;
  if (pid == 0 || debt_.left_ms() > kMostDebtMs) return std::nullopt;
  const std::uint64_t began = monotonic_ns();
  const auto answer = ask(scouts_, pid, read_code, ScoutWriter().put(pid).put(pc).bytes());
  debt_.add(monotonic_ns() - began);
  if (!answer) return std::nullopt;  // not now, which is not for ever
  std::optional<std::uint64_t> code;
  ScoutReader in(answer->bytes);
  const bool is_read = in.get<bool>();
  const auto word = in.get<std::uint64_t>();
  if (is_read) code = word;
  if (known_.size() >= kMostKept) known_.clear();
  known_.emplace(std::pair(mm, pc), code);
  return code;
}

}  // namespace uscope::tracer
