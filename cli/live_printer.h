// `uscope record --print`: each call as a line when it ends, as strace writes it. Frames are not named while tracing.
#pragma once

#include <cstdint>

#include "cli/status_line.h"
#include "tracer/collector.h"

namespace uscope::cli {

class LivePrinter : public tracer::RecordObserver {
 public:
  // Lines go to stderr, around the status line.
  explicit LivePrinter(StatusLine& status) : status_(status) {}
  void on_event(const usc_event& event, const tracer::TaskInfo& task) override;

 private:
  StatusLine& status_;
  std::uint64_t first_ns_ = 0;
};

}  // namespace uscope::cli
