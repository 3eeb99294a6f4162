// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Processes that come into the trace with a life behind them, and the images that they run: /proc adds what the kernel
// side does not know. That is what they have open, and, for a process that ran before, its path, its arguments, and
// whether it may use io_uring.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "support/result.h"
#include "trace/ids.h"
#include "trace/sink.h"
#include "trace/string_filter.h"
#include "tracer/process/process_portrait.h"

namespace uscope::tracer {

class Arrivals {
 public:
  // All must outlive this object. `strings` decides what of paths, arguments and descriptors is written.
  Arrivals(PortraitSource& portraits, trace::StringFilter& strings, trace::RecordSink& sink)
      : portraits_(portraits), strings_(strings), sink_(sink) {}

  // How much of an argument list is kept, as usc_config has it.
  void set_argument_bytes(std::size_t bytes) { argument_bytes_ = bytes; }
  // The command that is about to be started: remembers what it has open by then.
  void set_command(std::uint32_t pid);
  // Writes what the launched command has open. Descriptors of another process that was not forked by a traced one are
  // read when its image comes.
  Result<void> start(const usc_task& task);
  // Writes the image (the record of which is not to be written otherwise), and before it what its process has open, if
  // that was not known. `pid`: of the process, 0 = not known. `written` gets the record as it is written.
  using ImageWritten = std::function<void(const usc_exec&)>;
  Result<void> write_image(
      const usc_exec& exec, std::uint32_t pid, const ImageWritten& written = [](const usc_exec& /*image*/) {});

  // Pids of processes that ran before the trace and whose image was written since the last call.
  std::vector<std::uint32_t> take_adopted() { return std::exchange(adopted_, {}); }

 private:
  Result<void> complete_image(const usc_exec& exec, std::uint32_t pid, bool with_descriptors,
                              const ImageWritten& written);
  Result<void> write(const usc_record& image, const ImageWritten& written);
  Result<void> write_descriptors(trace::ProcessId process, std::uint64_t from_ns, std::uint64_t until_ns,
                                 const std::vector<OpenDescriptor>& descriptors);

  PortraitSource& portraits_;
  trace::StringFilter& strings_;
  trace::RecordSink& sink_;
  std::size_t argument_bytes_ = USC_ARGV_DEFAULT;
  std::vector<OpenDescriptor> of_command_;       // until its process comes
  std::unordered_set<trace::ProcessId> unread_;  // processes whose image comes next
  std::vector<std::uint32_t> adopted_;
};

}  // namespace uscope::tracer
