// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The process that holds probes in files (ProbeHolder): uscope-guard. The tracer may be stopped at any time (Ctrl-Z,
// SIGSTOP), while others want to change a probed file, and the kernel makes them wait for a tracer's lease for
// fs.lease-break-time only (45 s). This process is in no group that a shell stops, has nothing else to do, and nothing
// that it does waits for another process. It ends with the tracer, and the probes with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "support/process/child_work.h"
#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/backend/probe_holder.h"

namespace uscope::tracer {

class ProbeGuard {
 public:
  // Forks.
  static Result<std::unique_ptr<ProbeGuard>> start();

  // As ProbeHolder::attach(), in the other process.
  Result<void> attach(std::size_t number, int file, int program, bool has_multi, const PlacesInFile& what);
  void remove(std::size_t number);
  // Removes all probes, and ends the process. What it has to tell can still be taken.
  void end();
  // Files whose probes it has removed, since they were about to be changed, or have been.
  struct Removed {
    std::size_t number = 0;
    FileGuard::News news = FileGuard::News::kChanged;
    std::uint64_t time_ns = 0;
  };
  std::vector<Removed> take_removed();
  // It was ended by somebody: no probe is left.
  [[nodiscard]] bool has_ended() const { return ended_; }
  // Readable when take_removed() has something to tell.
  [[nodiscard]] int fd() const { return ended_ || !socket_ ? -1 : socket_.get(); }

 private:
  ProbeGuard(ChildWork process, UniqueFd socket) : socket_(std::move(socket)), process_(std::move(process)) {}
  bool receive(bool wait);

  UniqueFd socket_;
  std::optional<ChildWork> process_;
  std::vector<Removed> removed_;
  Result<void> answer_;
  bool answered_ = false;
  bool ended_ = false;
};

}  // namespace uscope::tracer
