// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The format has no slices with a duration, only beginnings and ends, and an end is that of the innermost slice that is
// open on its track. So the ends of a thread's slices are kept until its next event comes, and are written in their
// order before it (span.h). The reader sorts all packets by time, and leaves those of one time in the order of the
// file.
#include "exporters/timelines/perfetto.h"

#include <string>
#include <unordered_map>
#include <utility>

#include "analyzer/read/event_row.h"
#include "analyzer/read/stack_reader.h"
#include "exporters/missing.h"
#include "exporters/timelines/fork_flows.h"
#include "exporters/timelines/perfetto_packets.h"
#include "exporters/timelines/span.h"
#include "exporters/timelines/timeline.h"

namespace uscope::exporters {
namespace {

using analyzer::EventRow;

// Numbers of tracks: what it is of above, the row's id below.
enum class Of : std::uint64_t { kTrace = 1, kProcess = 2, kThread = 3, kPrograms = 4 };
constexpr unsigned kIdBits = 56;

std::uint64_t track_of(Of kind, std::int64_t id) {
  return static_cast<std::uint64_t>(kind) << kIdBits | (static_cast<std::uint64_t>(id) & ((1ULL << kIdBits) - 1));
}

class PerfettoExporter {
 public:
  PerfettoExporter(const store::Database& database, const analyzer::Catalog& catalog, const EventWords& words,
                   analyzer::StackReader stacks, const Bytes& out)
      : database_(database),
        catalog_(catalog),
        words_(words),
        stacks_(std::move(stacks)),
        packets_(out),
        flows_(catalog) {}

  Result<void> begin();
  Result<void> add(const EventRow& event);
  void finish();
  [[nodiscard]] const TimelineTotals& totals() const { return totals_; }

 private:
  // CLOCK_MONOTONIC from time since the trace's start.
  [[nodiscard]] std::int64_t moment(std::int64_t since_start_ns) const {
    return analyzer::difference(catalog_.start_ns, analyzer::difference(0, since_start_ns));
  }
  [[nodiscard]] Annotations annotations(const EventRow& event, Lasting lasts) const;
  void add_tasks();
  void add_programs(const analyzer::Process& process);
  Result<void> add_missing();
  // The event's stack, defined; none: it has no frame.
  Result<std::optional<analyzer::StackRowId>> stack_of(const EventRow& event);
  void add_sample(const EventRow& event, std::optional<analyzer::StackRowId> stack);

  const store::Database& database_;
  const analyzer::Catalog& catalog_;
  const EventWords& words_;
  analyzer::StackReader stacks_;
  PerfettoPackets packets_;
  ForkFlows flows_;
  std::unordered_map<analyzer::ThreadRowId, OpenSlices> open_;
  TimelineTotals totals_;
};

Result<void> PerfettoExporter::begin() {
  packets_.begin(catalog_.start_ns, catalog_.since_1970(0));
  add_tasks();
  return add_missing();
}

void PerfettoExporter::add_tasks() {
  for (const analyzer::Process& process : catalog_.processes) {
    const analyzer::Image* image = catalog_.last_image(process);
    packets_.process_track(track_of(Of::kProcess, process.id.value()), process,
                           image && !image->name.empty() ? image->name : "?");
    add_programs(process);
  }
  for (const analyzer::Thread& thread : catalog_.threads) {
    const analyzer::Process* process = catalog_.processes.find(thread.process_id);
    packets_.thread_track(track_of(Of::kThread, thread.id.value()),
                          process ? track_of(Of::kProcess, process->id.value()) : 0, process ? process->pid : 0,
                          thread);
  }
}

// A slice for each program that the process was, from when it became that to the next one, or to its end.
void PerfettoExporter::add_programs(const analyzer::Process& process) {
  const std::uint64_t track = track_of(Of::kPrograms, process.id.value());
  packets_.named_track(track, track_of(Of::kProcess, process.id.value()), "program");
  std::vector<std::pair<std::int64_t, const analyzer::Image*>> programs;
  const std::int64_t start = process.start_ns.value_or(catalog_.start_ns);
  if (const analyzer::Image* inherited = catalog_.inherited_image(process)) programs.emplace_back(start, inherited);
  for (const analyzer::ImageRowId id : process.images)
    if (const analyzer::Image* image = catalog_.images.find(id))
      programs.emplace_back(std::max(start, image->ts_ns.value_or(start)), image);
  for (std::size_t i = 0; i < programs.size(); i++) {
    const analyzer::Image& image = *programs[i].second;
    const bool last = i + 1 == programs.size();
    TrackEvent event{
        track, programs[i].first, image.name, "program", {{"path", image.path}, {"arguments", image.argv}}, {}, 0, 0};
    if (last && process.exit_code) event.annotations.emplace_back("exit_code", *process.exit_code);
    if (last && process.exit_signal) event.annotations.emplace_back("exit_signal", *process.exit_signal);
    packets_.begin_slice(event);
    const auto end = last ? process.end_ns : std::optional(programs[i + 1].first);
    if (end) packets_.end_slice(track, std::max(programs[i].first, *end));
  }
}

Result<void> PerfettoExporter::add_missing() {
  const std::uint64_t track = track_of(Of::kTrace, 1);
  packets_.named_track(track, 0, "recording and losses");
  packets_.instant(
      {track, catalog_.start_ns, "recording", "recording", {{"text", recording_text(catalog_)}}, {}, 0, 0});
  return for_each_missing(database_, catalog_, [&](const Missing& missing) {
    TrackEvent event{track,
                     missing.ts_ns,
                     "lost " + missing.cause,
                     "loss",
                     {{"count", static_cast<std::int64_t>(missing.count)},
                      {"meaning", missing.meaning},
                      {"until_ns", missing.until_ns}},
                     {},
                     0,
                     0};
    if (missing.pid) event.annotations.emplace_back("pid", *missing.pid);
    packets_.instant(event);
  });
}

Annotations PerfettoExporter::annotations(const EventRow& event, Lasting lasts) const {
  Annotations out{{"id", event.id.value()}};
  if (std::string arguments = words_.arguments(event); !arguments.empty())
    out.emplace_back("arguments", std::move(arguments));
  if (event.result) {
    out.emplace_back("result", *event.result);
    if (!event.error.empty()) out.emplace_back("error", event.error);
  }
  if (event.how != "returned" || lasts == Lasting::kUnfinished) out.emplace_back("how", event.how);
  if (!event.trigger.empty()) out.emplace_back("trigger", event.trigger);
  const analyzer::Thread* thread = catalog_.threads.find(event.thread_id);  // its track has the last name
  if (thread && thread->name != event.thread) out.emplace_back("thread", event.thread);
  if (event.ended.starts_with("broken:"))
    out.emplace_back("stack", "broken: callers are missing (" + event.ended + ")");
  if (event.guessed) out.emplace_back("stack_guessed", "callers of code without unwind data may be missing");
  return out;
}

Result<std::optional<analyzer::StackRowId>> PerfettoExporter::stack_of(const EventRow& event) {
  if (!event.stack_id || packets_.knows(*event.stack_id)) return event.stack_id;
  auto frames = stacks_.frames(*event.stack_id);
  if (!frames) return frames.error();
  if ((*frames)->empty()) return std::optional<analyzer::StackRowId>();
  packets_.define_stack(*event.stack_id, **frames);
  return event.stack_id;
}

void PerfettoExporter::add_sample(const EventRow& event, std::optional<analyzer::StackRowId> stack) {
  packets_.sample(
      {moment(event.ts_ns), event.pid, event.tid, event.args[0].value_or(0), event.call == "kernel", stack});
}

Result<void> PerfettoExporter::add(const EventRow& event) {
  auto stack = stack_of(event);
  if (!stack) return stack.error();
  totals_.events++;
  const analyzer::Kind* kind = catalog_.kinds.find(event.kind_id);
  if (kind && kind->is_sample()) {
    add_sample(event, *stack);
    return {};
  }
  const std::uint64_t track = track_of(Of::kThread, event.thread_id.value());
  OpenSlices& open = open_[event.thread_id];
  open.advance(event.ts_ns, [&](std::int64_t ts_ns) { packets_.end_slice(track, moment(ts_ns)); });
  const Lasting lasts = lasting(event);
  TrackEvent out{track,
                 moment(event.ts_ns),
                 kind ? kind->label() : event.call,
                 kind ? kind->source.c_str() : "",
                 annotations(event, lasts),
                 *stack,
                 0,
                 0};
  if (const auto child = flows_.made_by(event)) out.flow = static_cast<std::uint64_t>(child.value());
  if (flows_.is_first(event)) out.flow_end = static_cast<std::uint64_t>(event.thread_id.value());
  if (lasts == Lasting::kUnfinished) totals_.unfinished++;
  const auto end = lasts == Lasting::kFinished ? std::optional(end_of(event)) : std::nullopt;
  if (lasts != Lasting::kMoment && open.open(end)) {
    packets_.begin_slice(out);
  } else {
    if (end) out.annotations.emplace_back("dur_ns", *event.dur_ns);
    packets_.instant(out);
  }
  return {};
}

void PerfettoExporter::finish() {
  for (auto& [id, open] : open_) {
    const analyzer::Thread* thread = catalog_.threads.find(id);
    const auto end = thread ? catalog_.since_start(thread->end_ns) : std::nullopt;
    const std::uint64_t track = track_of(Of::kThread, id.value());
    open.finish(end, [&](std::int64_t ts_ns) { packets_.end_slice(track, moment(ts_ns)); });
  }
}

}  // namespace

Result<TimelineTotals> write_perfetto(const store::Database& database, const analyzer::Catalog& catalog,
                                      const analyzer::EventFilter& filter, const EventWords& words, const Bytes& out) {
  auto stacks = analyzer::StackReader::create(database);
  if (!stacks) return stacks.error();
  PerfettoExporter exporter(database, catalog, words, std::move(*stacks), out);
  return write_timeline(database, catalog, filter, exporter);
}

}  // namespace uscope::exporters
