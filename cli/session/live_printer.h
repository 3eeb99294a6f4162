// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope record --print`: each call as a line when it ends, as strace writes it. Frames are not named while tracing,
// nor is it said what descriptors stand for.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/read/event_query.h"
#include "cli/terminal/status_line.h"
#include "tracer/collect/observer.h"

namespace uscope::cli {

class LivePrinter : public tracer::RecordObserver {
 public:
  // Lines go to stderr, around the status line.
  explicit LivePrinter(StatusLine& status) : status_(status) {}
  void on_event(const usc_event& event, const tracer::TaskInfo& task) override;
  void on_string(const usc_string& string) override;

 private:
  // Strings of a task's call that has not been printed yet.
  struct Strings {
    std::uint64_t entry_ns = 0;
    std::vector<analyzer::EventString> list;
    std::vector<analyzer::EventContent> contents;
  };

  StatusLine& status_;
  std::uint64_t first_ns_ = 0;
  std::unordered_map<trace::TaskId, Strings> strings_;
};

}  // namespace uscope::cli
