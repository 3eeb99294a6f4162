// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The model of a running trace: who is who (tasks, images, files, stacks, kinds), what descriptors stand for, looks,
// and what is under way. It is asked while records come, forgets by rule, and is written out as the beginning of a
// trace that begins now. Records that come later, appended to that, load to the same events, names, stacks and
// descriptors as they do behind the whole trace.
//
// What a trace that begins now has of the time before: definitions of tasks that live and of those that have ended
// since forget() was called, the calls that changed their descriptors (as calls that are only followed), the last loss
// of each cause and process (it makes descriptors doubtful), and calls and hits under way.
//
// Limits: what became of calls and hits whose own records came before is not in it. Strings of a function that lasts
// longer than forget() looks back are forgotten. KeptDescriptors, KeptLooks and KeptDefinitions state their bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "live/window/kept_definitions.h"
#include "live/window/kept_descriptors.h"
#include "live/window/kept_looks.h"
#include "live/window/open_events.h"
#include "live/window/window_trace.h"
#include "support/result.h"
#include "trace/ids.h"
#include "uscope/record.h"

namespace uscope::live {

class Window {
 public:
  struct Keeps {
    bool descriptors = true;
    bool looks = true;
  };

  explicit Window(Keeps keeps) : keeps_(keeps) {}

  // Takes any record of the trace, in the order in which they come.
  void take(const usc_record& record);
  // Takes a record that is no event, nor a part of one: what it defines is kept.
  void define(const usc_record& record);

  // Writes what a trace needs that begins now.
  Result<void> write(WindowTrace& to) const;

  // Forgets what no record can refer to that belongs to an event which ended after this time. Guises that are in use
  // are kept.
  void forget(std::uint64_t before_ns, const std::set<trace::ImageId>& guises_in_use = {});

  [[nodiscard]] KeptDefinitions& definitions() { return definitions_; }
  [[nodiscard]] const KeptDefinitions& definitions() const { return definitions_; }
  [[nodiscard]] KeptDescriptors& descriptors() { return descriptors_; }
  [[nodiscard]] const KeptDescriptors& descriptors() const { return descriptors_; }
  [[nodiscard]] OpenEvents& open() { return open_; }
  [[nodiscard]] const OpenEvents& open() const { return open_; }

 private:
  void end_call(const trace::Event& event);
  void take_part(std::uint64_t entry_ns, const usc_record& record);

  Keeps keeps_;
  KeptDefinitions definitions_;
  KeptDescriptors descriptors_;
  KeptLooks looks_;
  OpenEvents open_;
};

}  // namespace uscope::live
