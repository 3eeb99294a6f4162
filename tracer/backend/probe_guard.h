// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The process that holds probes in files (ProbeHolder): uscope-guard. The tracer may be stopped at any time (Ctrl-Z,
// SIGSTOP), while others want to change a probed file, and the kernel makes them wait for a tracer's lease for
// fs.lease-break-time only (45 s). This process is in no group that a shell stops, has nothing else to do, and nothing
// that it does waits for another process but its own that removes probes. When the tracer ends, also by SIGKILL, it
// removes all probes and ends. Nobody kills it while it is at that, which would leave breakpoints behind
// (probe_holder.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/process/child_work.h"
#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/backend/probe_holder.h"
#include "tracer/scouts/message_port.h"

namespace uscope::tracer {

class ProbeGuard {
 public:
  // Forks.
  static Result<std::unique_ptr<ProbeGuard>> start();
  ProbeGuard(const ProbeGuard&) = delete;
  ProbeGuard& operator=(const ProbeGuard&) = delete;
  ~ProbeGuard() { stop(); }

  // As ProbeHolder::attach(), in the other process. Waits for its answer as long as that process gets on
  // (standstill.h), and until the user asks for an end.
  Result<void> attach(std::size_t number, int file, int program, bool has_multi, const PlacesInFile& what);
  void remove(std::size_t number);
  // Removes all probes, and ends the process. What it has told can still be taken.
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
  // 0 after end().
  [[nodiscard]] pid_t pid() const { return process_ ? process_->pid() : 0; }
  // Readable when take_removed() has something to tell.
  [[nodiscard]] int fd() const { return port_.fd(); }

 private:
  enum class Waited : std::uint8_t { kAnswered, kInVain, kEndAskedFor };

  ProbeGuard(ChildWork process, UniqueFd socket) : port_(std::move(socket)), process_(std::move(process)) {}
  void receive();
  Waited await_answers(bool until_end_is_asked_for);
  [[nodiscard]] Error silent(const std::string& path) const;
  void stop();

  MessagePort port_;
  std::optional<ChildWork> process_;
  std::vector<Removed> removed_;
  Result<void> answer_;  // the last one
  std::size_t asked_ = 0;
  std::size_t answered_ = 0;  // in the order in which it was asked
  bool ended_ = false;
  std::string_view why_silent_;
};

}  // namespace uscope::tracer
