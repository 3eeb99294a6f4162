// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/event_reader.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "analyzer/read/query.h"
#include "syscalls/errno_names.h"
#include "trace/names.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kCachedStacks = 4096;

EventString::Source source_of(std::int64_t number) {
  if (number == 1) return EventString::Source::kKernel;
  return number == 2 ? EventString::Source::kDescriptor : EventString::Source::kProgram;
}

EventContent content_of(const SqlRow& row) {
  EventContent out;
  out.arg = static_cast<int>(row.integer(0));
  out.holds = row.integer(1) == 0 ? EventContent::Holds::kData : EventContent::Holds::kStructure;
  out.source = source_of(row.integer(2));
  if (!row.is_null(3)) out.bytes = text(row, 3);
  out.late = row.integer(4) != 0;
  out.cut = row.integer(5) != 0;
  return out;
}

constexpr std::string_view kSelectSignal =
    "SELECT s.number, s.code, s.result, s.blocked, s.sender_pid, s.sender_tid, s.sender, s.receiver_pid, "
    "s.receiver_tid, s.receiver, s.handler, f.function, s.info_pid, s.info_uid, s.info_status, s.info_value, "
    "s.info_address, s.info_band, s.info_fd, s.info_timer, s.info_overrun, s.info_syscall FROM signal s "
    "LEFT JOIN frame f ON f.id = s.handler_frame_id WHERE s.event_id = ?1";

EventSignal signal_of(const SqlRow& row) {
  EventSignal out;
  out.number = static_cast<int>(row.integer(0));
  out.code = static_cast<int>(row.integer(1));
  out.delivered = row.is_null(2);
  out.result = text(row, 2);
  out.blocked = row.integer(3) != 0;
  out.sender_pid = row.maybe_integer(4);
  out.sender_tid = row.integer(5);
  out.sender = text(row, 6);
  out.receiver_pid = row.integer(7);
  out.receiver_tid = row.maybe_integer(8);
  out.receiver = text(row, 9);
  out.handler = row.integer(10);
  out.handler_function = text(row, 11);
  int column = 12;
  for (auto field :
       {&trace::SignalInfo::pid, &trace::SignalInfo::uid, &trace::SignalInfo::status, &trace::SignalInfo::value,
        &trace::SignalInfo::address, &trace::SignalInfo::band, &trace::SignalInfo::fd, &trace::SignalInfo::timer,
        &trace::SignalInfo::overrun, &trace::SignalInfo::syscall})
    out.info.*field = row.maybe_integer(column++);
  return out;
}

}  // namespace

Result<EventReader> EventReader::create(const store::Database& database, const Catalog& catalog) {
  auto event = database.prepare(
      "SELECT ts_ns, dur_ns, how, thread_id, image_id, kind_id, result, stack_id, "
      "a0, a1, a2, a3, a4, a5 FROM event WHERE id = ?1");
  if (!event) return event.error();
  auto strings = database.prepare(
      "SELECT es.arg, s.value, es.late, es.source FROM event_string es "
      "JOIN string s ON s.id = es.string_id WHERE es.event_id = ?1 ORDER BY es.arg");
  if (!strings) return strings.error();
  auto contents = database.prepare(
      "SELECT ec.arg, ec.holds, ec.source, c.value, ec.late, ec.cut FROM event_content ec "
      "LEFT JOIN content c ON c.id = ec.content_id WHERE ec.event_id = ?1 ORDER BY ec.arg, ec.holds, ec.source");
  if (!contents) return contents.error();
  auto descriptors = database.prepare(
      "SELECT d.arg, d.fd, d.wants, s.value, d.late FROM event_descriptor d LEFT JOIN string s ON s.id = d.string_id "
      "WHERE d.event_id = ?1 ORDER BY d.arg, d.place");
  if (!descriptors) return descriptors.error();
  auto buffers = database.prepare("SELECT arg, parts, bytes FROM event_buffers WHERE event_id = ?1");
  if (!buffers) return buffers.error();
  auto has_contents = one_number(database.prepare("SELECT EXISTS (SELECT * FROM event_content)"));
  if (!has_contents) return has_contents.error();
  auto has_descriptors = one_number(database.prepare("SELECT EXISTS (SELECT * FROM event_descriptor)"));
  if (!has_descriptors) return has_descriptors.error();
  auto has_buffers = one_number(database.prepare("SELECT EXISTS (SELECT * FROM event_buffers)"));
  if (!has_buffers) return has_buffers.error();
  auto stack = database.prepare(
      "SELECT s.depth, s.ended, f.function, m.path, s.trigger_fallback, "
      "EXISTS (SELECT 1 FROM guessed_stack g WHERE g.stack_id = s.id) FROM stack s "
      "LEFT JOIN frame f ON f.id = s.trigger_frame_id "
      "LEFT JOIN module m ON m.id = f.module_id WHERE s.id = ?1");
  if (!stack) return stack.error();
  auto signal = database.prepare(kSelectSignal);
  if (!signal) return signal.error();
  EventReader reader(catalog, std::move(*event), std::move(*strings), std::move(*contents), std::move(*descriptors),
                     std::move(*buffers), std::move(*signal), std::move(*stack));
  reader.has_contents_ = *has_contents != 0;
  reader.has_descriptors_ = *has_descriptors != 0;
  reader.has_buffers_ = *has_buffers != 0;
  return reader;
}

Result<EventRow> EventReader::read(EventRowId id) {
  EventRow out;
  out.id = id;
  event_.bind(1, id);
  auto done = each(event_, [&](const SqlRow& row) { fill(row, out); });
  if (!done) return done.error();
  strings_.bind(1, id);
  done = each(strings_, [&](const SqlRow& row) {
    out.strings.push_back(
        {static_cast<int>(row.integer(0)), text(row, 1), row.integer(2) != 0, source_of(row.integer(3))});
  });
  if (!done) return done.error();
  if (has_contents_) {
    contents_.bind(1, id);
    done = each(contents_, [&](const SqlRow& row) { out.contents.push_back(content_of(row)); });
    if (!done) return done.error();
  }
  if (has_descriptors_) {
    descriptors_.bind(1, id);
    done = each(descriptors_, [&](const SqlRow& row) {
      EventDescriptor one{
          static_cast<int>(row.integer(0)), static_cast<int>(row.integer(1)), text(row, 2), {}, row.integer(4) != 0};
      if (!row.is_null(3)) one.name = text(row, 3);
      out.descriptors.push_back(std::move(one));
    });
    if (!done) return done.error();
  }
  if (has_buffers_) {
    buffers_.bind(1, id);
    done = each(buffers_, [&](const SqlRow& row) {
      out.buffers = EventBuffers{static_cast<int>(row.integer(0)), row.integer(1), row.integer(2)};
    });
    if (!done) return done.error();
  }
  if (out.source == trace::source_name(USC_SOURCE_SIGNAL)) {
    signal_.bind(1, id);
    done = each(signal_, [&](const SqlRow& row) { out.signal = signal_of(row); });
    if (!done) return done.error();
  }
  done = add_stack(out);
  if (!done) return done.error();
  return out;
}

EventReader::EventReader(const Catalog& catalog, store::Statement event, store::Statement strings,
                         store::Statement contents, store::Statement descriptors, store::Statement buffers,
                         store::Statement signal, store::Statement stack)
    : catalog_(&catalog),
      event_(std::move(event)),
      strings_(std::move(strings)),
      contents_(std::move(contents)),
      descriptors_(std::move(descriptors)),
      buffers_(std::move(buffers)),
      signal_(std::move(signal)),
      stack_(std::move(stack)) {}

void EventReader::fill(const SqlRow& row, EventRow& out) const {
  out.ts_ns = difference(row.integer(0), catalog_->start_ns);
  out.dur_ns = row.maybe_integer(1);
  out.how = text(row, 2);
  out.thread_id = ThreadRowId(row.integer(3));
  out.kind_id = KindRowId(row.integer(5));
  if (const Thread* thread = catalog_->threads.find(out.thread_id)) {
    out.tid = thread->tid;
    out.thread = thread->name_at(row.integer(0));
    if (const Process* process = catalog_->processes.find(thread->process_id)) out.pid = process->pid;
  }
  if (const Image* image = catalog_->images.find(ImageRowId(row.integer(4)))) out.process = image->name;
  if (const Kind* kind = catalog_->kinds.find(out.kind_id)) {
    out.call = kind->name;
    out.source = kind->source;
    out.abi = kind->abi;
    out.nr = kind->nr;
    out.arguments = kind->arguments;
    out.result_type = kind->result_type;
  }
  out.result = row.maybe_integer(6);
  if (out.result && !is_of_probes(out.source) && syscalls::is_error(*out.result)) out.error = error_name(-*out.result);
  out.stack_id = maybe_id<StackRowId>(row, 7);
  for (int arg = 0; arg < 6; arg++) out.args[static_cast<std::size_t>(arg)] = row.maybe_integer(8 + arg);
}

Result<void> EventReader::add_stack(EventRow& out) {
  if (!out.stack_id) return {};
  auto at = stacks_.find(*out.stack_id);
  if (at == stacks_.end()) {
    if (stacks_.size() >= kCachedStacks) stacks_.clear();
    StackFacts facts;
    stack_.bind(1, *out.stack_id);
    auto done = each(stack_, [&](const SqlRow& row) {
      facts = {row.integer(0), text(row, 1), text(row, 2), text(row, 3), row.integer(4) != 0, row.integer(5) != 0};
    });
    if (!done) return done;
    at = stacks_.emplace(*out.stack_id, std::move(facts)).first;
  }
  out.depth = at->second.depth;
  out.ended = at->second.ended;
  out.trigger = at->second.trigger;
  out.trigger_module = at->second.module;
  out.trigger_fallback = at->second.fallback;
  out.guessed = at->second.guessed;
  return {};
}

}  // namespace uscope::analyzer
