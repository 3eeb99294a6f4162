// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Writes events, kinds and verify rows to a store, has events counted, and counts what they refer to in vain.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/db/database.h"
#include "store/db/row_ids.h"
#include "store/model/definitions.h"
#include "store/model/flat_map.h"
#include "store/write/event_counter.h"
#include "store/write/frame_writer.h"
#include "store/write/futex_writer.h"
#include "store/write/object_table.h"
#include "store/write/set_writer.h"
#include "store/write/signal_writer.h"
#include "store/write/string_writer.h"
#include "trace/event_order.h"

namespace uscope::store {

class EventWriter {
 public:
  using LossKey = trace::IdPair<std::uint32_t, trace::ProcessId>;  // cause, process

  // All must outlive this object; `frames` has run.
  EventWriter(DatabaseWriter& database, const Definitions& definitions, const FrameWriter& frames, StringTable& strings,
              std::int64_t utc_offset_ns);

  Result<void> prepare();  // to be called first

  // One call: of several records of it, an open or attached one counts only where nothing later came.
  Result<void> write(const trace::OrderedCall& call);

  // What the event of a usc_signal is; the rest of the record waits here for it.
  trace::OrderedEvent keep_signal(const trace::RawRecord& record) { return signals_.keep(record); }

  // The row of `kind` of a system call, which need not have come.
  Result<KindRowId> kind_of_call(std::uint8_t abi, std::uint32_t nr);

  // Cells and totals, and rows of threads that events name but nothing defines. `recorded_until`: since when no new
  // call was recorded; none if the trace does not tell, and so not which threads were in a call at its end.
  Result<void> finish(std::optional<std::uint64_t> recorded_until);

  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t last_ns() const { return last_ns_; }
  // Whether there were calls that are no events (StringWriter::is_followed()).
  [[nodiscard]] bool followed_any() const { return followed_any_; }

  // Losses found on the way: undefined stacks and tasks, by cause and process.
  [[nodiscard]] const std::map<LossKey, LossFacts>& losses() const { return losses_; }

 private:
  using KindKey = trace::IdPair<std::uint32_t, std::uint32_t>;  // source << 8 | ABI, number
  // What a task's events need to know of it.
  struct Task {
    ThreadRowId row;
    trace::ProcessId process = {};
    trace::ImageId inherited_image = {};
    bool defined = false;
    CountedThread counted = 0;
  };

  struct KindTraits {
    bool is_call = false;
    bool waits = false;
    bool counts_bytes = false;
  };

  struct EventStack {
    StackRowId row;
    StackNumber user;        // its user part
    bool undefined = false;  // a definition is missing
  };

  Result<void> write_event(const trace::OrderedEvent& event, EventRowId id, ObjectRowId object, CountedEvent& counted);
  Result<ObjectRowId> write_details(const trace::OrderedEvent& event, const trace::OrderedCall& call, EventRowId id,
                                    CountedEvent& counted);
  void end_gaps(std::optional<std::uint64_t> recorded_until);
  [[nodiscard]] EventStack stacks_of(const trace::OrderedEvent& event) const;
  [[nodiscard]] std::string kind_name(const usc_event& event) const;
  Result<KindRowId> kind_of(const usc_event& event);
  Result<KindRowId> other_kind(std::uint8_t source);
  Result<KindRowId> add_kind(std::string_view name, std::uint8_t source, std::string_view abi, std::int64_t number);
  Result<void> write_types(KindRowId kind, const usc_event& event);
  Task& task_of(trace::TaskId serial);
  trace::ImageId image_of(const usc_event& event, const Task& task) const;
  void lose(std::uint32_t cause, trace::ProcessId process, std::uint64_t time);
  Result<void> write_verify(const usc_verify& verify, EventRowId event_id);

  DatabaseWriter& database_;
  const Definitions& definitions_;
  const FrameWriter& frames_;
  std::unique_ptr<TableRows> event_rows_;
  std::unique_ptr<TableRows> kind_rows_;
  std::unique_ptr<TableRows> argument_rows_;
  std::unique_ptr<TableRows> result_rows_;
  std::unique_ptr<TableRows> verify_rows_;
  StringWriter strings_;
  ObjectTable objects_;
  SetWriter sets_;
  FutexWriter futexes_;
  SignalWriter signals_;
  EventCounter counter_;
  std::vector<Task> tasks_;
  FlatMap<trace::TaskId, std::uint32_t> task_places_;      // place in tasks_ + 1
  std::unordered_map<KindKey, KindRowId> kinds_;           // by source, ABI and number
  std::size_t probe_kinds_ = 0;                            // of them, those of probes
  std::vector<KindTraits> traits_;                         // by kind - 1
  FlatMap<trace::ImageId, std::uint32_t> images_;          // those that the trace defines: to 1
  std::array<KindRowId, USC_SOURCE_COUNT> other_kinds_{};  // those beyond the bound: by source, 0 of all but probes
  std::vector<ThreadRowId> undefined_tasks_;
  std::uint32_t other_task_ = 0;                           // place in tasks_ + 1
  std::uint64_t duration_left_ = std::uint64_t{1} << 63U;  // see event_writer.cpp
  std::map<LossKey, LossFacts> losses_;
  std::uint64_t events_ = 0;
  bool followed_any_ = false;
  std::uint64_t last_ns_ = 0;
};

}  // namespace uscope::store
