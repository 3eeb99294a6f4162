// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is under way while records come: calls and hits that have not ended, and the records that belong to them (what
// arguments pointed to, futexes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "live/window/kept_record.h"
#include "trace/call_join.h"
#include "trace/hit.h"
#include "trace/ids.h"

namespace uscope::live {

class OpenEvents {
 public:
  // A record of a call. Returns the call's event if it has ended; nullopt while it is under way.
  std::optional<trace::Event> take_call(const trace::Event& record);
  // A record of a hit. Returns whether it has ended: what lasts is told of while it does.
  bool take_hit(const usc_hit& hit);

  // Keeps a record that belongs to the event which the task entered then.
  void keep_part(trace::TaskId task, std::uint64_t entry_ns, const usc_record& record);
  // Such records of one event, which are not kept any more.
  std::vector<KeptRecord> take_parts(trace::TaskId task, std::uint64_t entry_ns);
  // Whether a call that was entered then is over, as far as is known.
  [[nodiscard]] bool is_over(trace::TaskId task, std::uint64_t entry_ns) const;

  using EachCall = std::function<Result<void>(const trace::Event&)>;
  using EachHit = std::function<Result<void>(const usc_hit&)>;
  Result<void> each_call(const EachCall& use) const;
  Result<void> each_hit(const EachHit& use) const;
  void each_event(const std::function<void(const usc_event&)>& use) const;  // of both
  // What it would take to go on in another trace: open calls and hits, and all parts.
  Result<void> write(WindowTrace& to) const;

  // Forgets parts that were written before this time, of calls that are over.
  void forget_parts(std::uint64_t before_ns);
  // Forgets tasks that are in no call and of which this is false.
  void forget_tasks(const std::function<bool(trace::TaskId)>& is_known);
  void clear();

 private:
  struct Part {
    std::uint64_t entry_ns = 0;
    KeptRecord record;
  };
  struct Task {
    trace::OpenCall call;
    std::vector<Part> parts;
  };

  std::unordered_map<trace::TaskId, Task> tasks_;
  // The last record of each hit, by task, entry and source.
  std::map<std::tuple<trace::TaskId, std::uint64_t, std::uint8_t>, KeptRecord> hits_;
};

}  // namespace uscope::live
