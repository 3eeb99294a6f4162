// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A stream's events must follow each other in time, while the store has each call once, by its beginning. So the ends
// wait in a queue until an event that is later comes: as many as there are calls under way at one time. Losses stand in
// another, by time.
#include "exporters/timelines/ctf.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/read/event_row.h"
#include "analyzer/read/stack_reader.h"
#include "exporters/missing.h"
#include "exporters/timelines/ctf_metadata.h"
#include "exporters/timelines/ctf_stream.h"
#include "exporters/timelines/span.h"
#include "exporters/timelines/timeline.h"
#include "trace/loss_class.h"

namespace uscope::exporters {
namespace {

using analyzer::EventRow;

// What is to be written later.
struct Later {
  std::int64_t ts_ns = 0;  // since the trace's start
  std::uint64_t order = 0;
  std::uint32_t number = 0;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string process;
  std::string thread;
  std::int64_t id = 0;
  std::int64_t result = 0;
  std::string words;
  std::int64_t dur_ns = 0;

  friend bool operator>(const Later& a, const Later& b) {
    return std::pair(a.ts_ns, a.order) > std::pair(b.ts_ns, b.order);
  }
};

class CtfExporter {
 public:
  CtfExporter(const store::Database& database, const analyzer::Catalog& catalog, const EventWords& words,
              analyzer::StackReader stacks, const Bytes& out)
      : database_(database), catalog_(catalog), words_(words), stacks_(std::move(stacks)), stream_(out) {}

  Result<void> begin();
  Result<void> add(const EventRow& event);
  void finish();
  [[nodiscard]] const TimelineTotals& totals() const { return totals_; }

 private:
  [[nodiscard]] std::int64_t moment(std::int64_t since_start_ns) const {
    return analyzer::difference(catalog_.start_ns, analyzer::difference(0, since_start_ns));
  }
  // Time since the trace's start as a field; 0: not known.
  static std::uint64_t number(std::optional<std::int64_t> value) {
    return static_cast<std::uint64_t>(value.value_or(0));
  }
  void write_tasks(std::int64_t ts_ns);
  void write_until(std::int64_t ts_ns);
  void write_end(const Later& end);
  void write_loss(const Missing& loss);
  Result<void> define_stack(const EventRow& event);

  const store::Database& database_;
  const analyzer::Catalog& catalog_;
  const EventWords& words_;
  analyzer::StackReader stacks_;
  CtfStream stream_;
  std::priority_queue<Later, std::vector<Later>, std::greater<>> later_;
  std::vector<Missing> losses_;  // by time
  std::size_t next_loss_ = 0;
  std::uint64_t lost_ = 0;
  std::unordered_set<analyzer::StackRowId> defined_;
  bool begun_ = false;
  TimelineTotals totals_;
};

Result<void> CtfExporter::begin() {
  return for_each_missing(database_, catalog_, [&](const Missing& missing) { losses_.push_back(missing); });
}

// Processes, programs and threads, in a packet of their own: a reader tells of discarded events only from the second
// packet on.
void CtfExporter::write_tasks(std::int64_t ts_ns) {
  begun_ = true;
  const std::int64_t at = std::min(catalog_.start_ns, moment(ts_ns));
  const auto begin = [&](CtfEvent event, const analyzer::Process* process, const analyzer::Thread* thread) {
    const analyzer::Image* image = process ? catalog_.last_image(*process) : nullptr;
    const std::int64_t pid = process ? process->pid : 0;
    stream_.event(static_cast<std::uint32_t>(event), at,
                  {pid, thread ? thread->tid : pid, image ? image->name : "", thread ? thread->name : ""});
  };
  for (const analyzer::Process& process : catalog_.processes) {
    begin(CtfEvent::kProcess, &process, nullptr);
    stream_.u64(static_cast<std::uint64_t>(process.id.value()));
    stream_.u64(static_cast<std::uint64_t>(process.parent_id.value()));
    stream_.text(process.exit_code     ? "exit " + std::to_string(*process.exit_code)
                 : process.exit_signal ? "signal " + std::to_string(*process.exit_signal)
                                       : "not seen");
    stream_.text(process.uses_io_uring ? "yes" : process.may_use_io_uring ? "not known" : "no");
    for (const analyzer::ImageRowId id : process.images) {
      const analyzer::Image* image = catalog_.images.find(id);
      if (!image) continue;
      begin(CtfEvent::kProgram, &process, nullptr);
      stream_.u64(static_cast<std::uint64_t>(process.id.value()));
      stream_.u64(number(image->ts_ns));
      stream_.text(image->path);
      stream_.text(image->argv);
    }
  }
  for (const analyzer::Thread& thread : catalog_.threads) {
    begin(CtfEvent::kThread, catalog_.processes.find(thread.process_id), &thread);
    stream_.u64(static_cast<std::uint64_t>(thread.id.value()));
    stream_.u64(static_cast<std::uint64_t>(thread.process_id.value()));
    stream_.u64(number(thread.start_ns));
    stream_.u64(number(thread.end_ns));
  }
  stream_.flush();
}

void CtfExporter::write_loss(const Missing& loss) {
  if (trace::counts_events(trace::loss_class(std::string_view(loss.cause)))) lost_ += loss.count;
  stream_.lost(lost_);
  stream_.event(static_cast<std::uint32_t>(CtfEvent::kLoss), loss.ts_ns, {loss.pid.value_or(0), 0, "", ""});
  stream_.text(loss.cause);
  stream_.text(loss.meaning);
  stream_.u64(loss.count);
  stream_.u64(static_cast<std::uint64_t>(loss.until_ns));
}

void CtfExporter::write_end(const Later& end) {
  stream_.event(end.number, moment(end.ts_ns), {end.pid, end.tid, end.process, end.thread});
  stream_.i64(end.id);
  stream_.i64(end.result);
  stream_.text(end.words);
  stream_.i64(end.dur_ns);
}

// Writes what was before this time, or at it.
void CtfExporter::write_until(std::int64_t ts_ns) {
  while (true) {
    const bool has_loss = next_loss_ < losses_.size();
    const std::int64_t loss_at = has_loss ? losses_[next_loss_].ts_ns : 0;
    const bool loss_first = has_loss && (later_.empty() || loss_at < moment(later_.top().ts_ns));
    if (loss_first ? loss_at > moment(ts_ns) : later_.empty() || later_.top().ts_ns > ts_ns) return;
    if (loss_first) {
      write_loss(losses_[next_loss_++]);
    } else {
      write_end(later_.top());
      later_.pop();
    }
  }
}

Result<void> CtfExporter::define_stack(const EventRow& event) {
  if (!event.stack_id || !defined_.insert(*event.stack_id).second) return {};
  auto read = stacks_.frames(*event.stack_id);
  if (!read) return read.error();
  stream_.event(static_cast<std::uint32_t>(CtfEvent::kStack), moment(event.ts_ns),
                {event.pid, event.tid, event.process, event.thread});
  stream_.i64(event.stack_id->value());
  stream_.text(event.guessed ? event.ended + ", guessed" : event.ended);
  stream_.u32(static_cast<std::uint32_t>((*read)->size()));
  for (const analyzer::StackFrame& frame : **read) {
    stream_.text(frame.function);
    stream_.text(frame.module);
    stream_.i64(frame.rel_pc);
    stream_.text(frame.file);
    stream_.u32(static_cast<std::uint32_t>(std::max<std::int64_t>(0, frame.line)));
    stream_.u32(frame.inlined ? 1 : 0);
  }
  return {};
}

Result<void> CtfExporter::add(const EventRow& event) {
  if (!begun_) write_tasks(event.ts_ns);
  const analyzer::Kind* kind = catalog_.kinds.find(event.kind_id);
  if (!kind)
    return Error{"event " + to_string(event.id) + " is of no kind that the trace has", "load the raw trace again"};
  write_until(event.ts_ns);
  if (auto done = define_stack(event); !done) return done;
  const std::size_t index = catalog_.kinds.index_of(*kind);
  stream_.event(ctf_begin(index), moment(event.ts_ns), {event.pid, event.tid, event.process, event.thread});
  stream_.i64(event.id.value());
  stream_.text(event.how);
  stream_.text(words_.arguments(event));
  for (const auto& argument : event.args) stream_.i64(argument.value_or(0));
  stream_.text(event.trigger);
  stream_.i64(event.stack_id ? event.stack_id->value() : 0);
  totals_.events++;
  const Lasting lasts = lasting(event);
  if (lasts == Lasting::kUnfinished) totals_.unfinished++;
  if (lasts == Lasting::kFinished)
    later_.push({end_of(event), totals_.events, ctf_end(index), event.pid, event.tid, event.process, event.thread,
                 event.id.value(), event.result.value_or(0), event.result ? words_.result(event) : "", *event.dur_ns});
  return {};
}

void CtfExporter::finish() {
  if (!begun_) write_tasks(0);
  write_until(std::numeric_limits<std::int64_t>::max());
  stream_.flush();
}

}  // namespace

Result<TimelineTotals> write_ctf(const store::Database& database, const analyzer::Catalog& catalog,
                                 const analyzer::EventFilter& filter, const EventWords& words, const CtfFiles& files) {
  auto stacks = analyzer::StackReader::create(database);
  if (!stacks) return stacks.error();
  write_ctf_metadata(catalog, files.metadata);
  CtfExporter exporter(database, catalog, words, std::move(*stacks), files.stream);
  return write_timeline(database, catalog, filter, exporter);
}

}  // namespace uscope::exporters
