// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Two passes over the raw trace. The first gathers definitions (who is who, distinct stacks), counts sequence numbers
// and notes the places of late calls; the second puts the events in the order of their entry and inserts them. Between
// the two, everything that events refer to is written, with its names. Indices come last.
//
// Ids: processes, threads and images keep the trace's serials, stacks are numbered as they were first defined, events
// in the order of ts_ns (meta.ordered is 0 where a window overflowed and they are not).
#include "store/loader.h"

#include <fmt/core.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "store/db/content_table.h"
#include "store/db/database.h"
#include "store/db/schema.h"
#include "store/db/string_table.h"
#include "store/model/definitions.h"
#include "store/write/event_writer.h"
#include "store/write/frame_writer.h"
#include "store/write/look_writer.h"
#include "support/text.h"
#include "trace/container.h"
#include "trace/event_order.h"
#include "trace/hit.h"
#include "trace/loss_class.h"
#include "trace/names.h"
#include "trace/raw_header.h"
#include "trace/raw_reader.h"
#include "trace/sequence_check.h"

namespace uscope::store {
namespace {

// As meta has them; empty if there are none.
std::string debug_troubles_json(const std::vector<FrameWriter::DebugTrouble>& troubles) {
  nlohmann::json array = nlohmann::json::array();
  for (const auto& trouble : troubles) array.push_back({{"path", trouble.path}, {"why", trouble.why}});
  return troubles.empty() ? "" : array.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// All names of a process, as a JSON array of texts.
std::string names_json(const trace::ProcessNames& names) {
  nlohmann::json array = nlohmann::json::array();
  for (const std::string& name : names.all()) array.push_back(trace_text(name));
  return array.dump();
}

std::optional<std::int64_t> maybe_time(const std::optional<std::uint64_t>& time) {
  return time ? std::optional(static_cast<std::int64_t>(*time)) : std::nullopt;
}

std::optional<std::int64_t> maybe_pid(std::uint32_t pid) {
  return pid ? std::optional(std::int64_t{pid}) : std::nullopt;
}

// The column process.origin; empty if nothing is known.
std::string_view origin_of(const ProcessFacts& process) {
  if ((process.number_flags & USC_TASK_EXECUTED) != 0) return "exec";
  if ((process.number_flags & USC_TASK_OWN_TID) != 0) return "fork";
  return process.started ? "clone" : "";
}

// A time as the tracer says; none if it does not, or says what cannot be.
std::optional<std::uint64_t> said_time(const std::map<std::string, std::string>& meta, const std::string& key,
                                       std::uint64_t file_began) {
  const auto said = meta.find(key);
  if (said == meta.end()) return std::nullopt;
  std::uint64_t time = 0;
  const char* const end = said->second.data() + said->second.size();
  const auto read = std::from_chars(said->second.data(), end, time);
  const bool can_be = read.ec == std::errc() && read.ptr == end && time >= file_began &&
                      time <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  return can_be ? std::optional(time) : std::nullopt;
}

class Loader {
 public:
  Loader(trace::RawReader reader, DatabaseWriter& database, const LoadOptions& options)
      : reader_(std::move(reader)), database_(database), options_(options), sequence_(reader_.header().cpus) {}

  Result<LoadSummary> run();

 private:
  Result<void> read_definitions();
  Result<void> write_processes();
  Result<void> write_threads();
  Result<void> write_images();
  Result<void> write_frames_and_events();
  Result<void> write_events(const FrameWriter& frames);
  Result<void> write_unwind_tables();
  Result<void> drop_strings_of_none();
  Result<void> write_losses(const EventWriter& events);
  Result<void> write_meta(const EventWriter& events, bool in_order);
  [[nodiscard]] bool same_kernel() const;
  void progress(double fraction) const {
    if (options_.progress) options_.progress(fraction);
  }
  Result<void> pass_progress(double from, double to);

  trace::RawReader reader_;
  DatabaseWriter& database_;
  const LoadOptions& options_;
  trace::SequenceCheck sequence_;
  Definitions definitions_;
  std::vector<trace::LateItem> late_;
  trace::RawDamage damage_;
  std::uint64_t last_time_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t changed_files_ = 0;
  std::string debug_troubles_;  // as in meta; empty: none
  LoadSummary summary_;
};

Result<LoadSummary> Loader::run() {
  if (auto done = read_definitions(); !done) return done.error();
  for (const auto step :
       {&Loader::write_processes, &Loader::write_threads, &Loader::write_images, &Loader::write_unwind_tables})
    if (auto done = (this->*step)(); !done) return done.error();
  if (auto done = write_frames_and_events(); !done) return done.error();
  return summary_;
}

// The namer's symbols are given back before the events are sorted.
Result<void> Loader::write_frames_and_events() {
  auto own_namer = options_.namer
                       ? nullptr
                       : symbolizer::make_symbol_namer(options_.open_module, same_kernel(), options_.fetch_debug_file);
  FrameWriter frames(database_, definitions_, options_.namer ? *options_.namer : *own_namer, options_.app_runtime);
  if (auto done = frames.run([this](double part) { progress(0.15 + 0.25 * part); }); !done) return done.error();
  own_namer.reset();
  definitions_.stacks.forget_frames();
  changed_files_ = frames.changed_files();
  debug_troubles_ = debug_troubles_json(frames.debug_troubles());
  return write_events(frames);
}

Result<void> Loader::pass_progress(double from, double to) {
  constexpr std::uint64_t kEvery = 1U << 16;
  if (++records_ % kEvery != 0 || reader_.size() == 0) return {};
  progress(from + (to - from) * static_cast<double>(reader_.position()) / static_cast<double>(reader_.size()));
  if (options_.stop && options_.stop()) return Error{"interrupted", ""};
  return {};
}

Result<void> Loader::read_definitions() {
  trace::EntryClock clock;
  trace::RawRecord record;
  last_time_ = reader_.header().start_ns;
  for (;;) {
    auto more = reader_.next(record);
    if (!more) return more.error();
    if (!*more) break;
    sequence_.observe(record);
    last_time_ = std::max<std::uint64_t>(last_time_, record.head.time);
    if (auto done = pass_progress(0, 0.15); !done) return done;
    if (trace::EventOrder::takes(record.head.type)) {
      const std::uint64_t entry = trace::EventOrder::entry_of(record);
      if (clock.is_late(entry, record.head.time) && late_.size() < trace::LateItem::kMost)
        late_.push_back({entry, record.offset});
    }
    definitions_.add(record);
  }
  definitions_.finish();
  damage_ = reader_.damage();
  definitions_.records_missing = sequence_.unexplained() != 0 || damage_.regions != 0;
  summary_.damaged_bytes = damage_.skipped_bytes;
  summary_.complete = sequence_.complete();
  summary_.processes = definitions_.processes.size();
  summary_.threads = definitions_.threads.size();
  summary_.stacks = definitions_.stacks.size();
  return {};
}

Result<void> Loader::write_processes() {
  auto insert = database_.prepare(
      "INSERT INTO process VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, nullif(?11, ''), "
      "?12, nullif(?13, ''), nullif(?14, ''))");
  if (!insert) return insert.error();
  for (const auto& [serial, process] : definitions_.processes) {
    const trace::ProcessId parent = definitions_.parent_of(process);
    const bool ended = process.end_ns.has_value();
    const std::uint32_t signal = process.exit_code & 0x7f;
    const auto known = definitions_.cgroups.find(process.cgroup);
    const std::string cgroup = known == definitions_.cgroups.end() ? "" : known->second;
    auto done = insert->run(
        serial, maybe_pid(process.pid), maybe_pid(process.ns_pid),
        maybe_id(parent == serial ? trace::ProcessId() : parent), maybe_time(process.start_ns),
        maybe_time(process.end_ns),
        ended && signal == 0 ? std::optional(std::int64_t{process.exit_code >> 8 & 0xff}) : std::nullopt,
        ended && signal != 0 ? std::optional(std::int64_t{signal}) : std::nullopt,
        process.uses_io_uring || !process.may_use_io_uring ? std::optional(std::int64_t{process.uses_io_uring})
                                                           : std::nullopt,
        maybe_id(process.space), origin_of(process),
        process.cgroup != 0 ? std::optional(static_cast<std::int64_t>(process.cgroup)) : std::nullopt,
        std::string_view(cgroup), trace::container_of(cgroup));
    if (!done) return done;
  }
  return {};
}

Result<void> Loader::write_threads() {
  auto insert = database_.prepare("INSERT INTO thread VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
  if (!insert) return insert.error();
  auto insert_name = database_.prepare("INSERT INTO thread_name VALUES(?1, ?2, ?3)");
  if (!insert_name) return insert_name.error();
  auto insert_user = database_.prepare("INSERT INTO thread_user VALUES(?1, ?2, ?3)");
  if (!insert_user) return insert_user.error();
  for (const auto& [serial, thread] : definitions_.threads) {
    for (auto name = thread.names.begin(); name != thread.names.end(); ++name) {
      // Its events before the first name that is known have that, too.
      const std::int64_t since = name == thread.names.begin() ? 0 : stored_time(name->first);
      if (auto done = insert_name->run(serial, since, std::string_view(name->second)); !done) return done;
    }
    for (auto user = thread.users.begin(); user != thread.users.end(); ++user) {
      const std::int64_t since = user == thread.users.begin() ? 0 : stored_time(user->first);
      if (auto done = insert_user->run(serial, since, user->second); !done) return done;
    }
    auto done = insert->run(serial, maybe_id(thread.process), maybe_pid(thread.tid), maybe_pid(thread.ns_tid),
                            std::string_view(thread.name), maybe_time(thread.start_ns), maybe_time(thread.end_ns),
                            maybe_time(thread.left_ns));
    if (!done) return done;
  }
  return {};
}

Result<void> Loader::write_images() {
  auto insert = database_.prepare("INSERT INTO image VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)");
  if (!insert) return insert.error();
  for (const auto& [serial, image] : definitions_.images) {
    const trace::ProcessNames names = image.names(definitions_.file(image.exe_file).path);
    const std::string argv = image.argv_json();
    const std::string name = trace_text(names.name());
    const std::string all = names_json(names);
    auto done = insert->run(serial, image.process, image.time, std::string_view(image.path), std::string_view(argv),
                            std::string_view(name), std::string_view(all));
    if (!done) return done;
  }
  return {};
}

Result<void> Loader::write_unwind_tables() {
  auto insert = database_.prepare("INSERT INTO unwind_table VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
  if (!insert) return insert.error();
  const auto bind_text = [&](int parameter, const std::string& text) {
    text.empty() ? insert->bind_null(parameter) : insert->bind(parameter, std::string_view(text));
  };
  for (const auto& [serial, file] : definitions_.files) {
    if (!file.described) continue;
    insert->bind(1, serial);
    insert->bind(2, std::string_view(file.path));
    bind_text(3, hex_of(file.build_id));
    const std::string_view state = trace::file_state_name(file.state);
    insert->bind(4, state.empty() ? "unknown" : state);
    insert->bind(5, file.rows);
    insert->bind(6, file.rules);
    insert->bind(7, file.row_bytes);
    bind_text(8, file.trouble);
    if (auto done = insert->execute(); !done) return done;
  }
  return {};
}

Result<void> Loader::write_events(const FrameWriter& frames) {
  StringTable strings(database_);
  ContentTable contents(database_);
  EventWriter writer(database_, definitions_, frames, strings, reader_.header().utc_offset_ns);
  if (auto done = strings.prepare(); !done) return done;
  if (auto done = contents.prepare(); !done) return done;
  if (auto done = writer.prepare(); !done) return done;
  LookWriter looks(database_, definitions_);
  if (auto done = looks.prepare(); !done) return done;
  trace::EventOrder order(
      reader_, std::move(late_), [&writer](const trace::OrderedCall& call) { return writer.write(call); },
      [&](const trace::RawRecord& record) { return trace::ordered_string(record, strings, contents); },
      [&](const trace::RawRecord& record) {
        if (record.head.type == USC_RECORD_SIGNAL) return writer.keep_signal(record);
        trace::OrderedEvent event{record.head.type == USC_RECORD_HIT ? trace::event_of_hit(record.as<usc_hit>())
                                                                     : trace::event_of_logged(record.as<usc_logged>())};
        event.kernel_stack = definitions_.logged_stacks.find(record);
        return event;
      });
  database_.inserter().start_thread();
  reader_.rewind();
  trace::RawRecord record;
  for (;;) {
    auto more = reader_.next(record);
    if (!more) return more.error();
    if (!*more) break;
    if (auto done = order.add(record); !done) return done;
    if (auto done = pass_progress(0.4, 0.85); !done) return done;
  }
  if (auto done = order.finish(); !done) return done;
  const auto kind_of_call = [&writer](std::uint8_t abi, std::uint32_t nr) { return writer.kind_of_call(abi, nr); };
  if (auto done = looks.write(kind_of_call); !done) return done;
  const std::optional<std::uint64_t> recorded_until =
      said_time(definitions_.meta, "calls_until_ns", reader_.header().start_ns);
  if (auto done = writer.finish(sequence_.complete() ? recorded_until : std::nullopt); !done) return done;
  if (auto done = strings.finish(); !done) return done;
  if (writer.followed_any())
    if (auto done = drop_strings_of_none(); !done) return done;
  summary_.events = writer.events();
  if (auto done = write_losses(writer); !done) return done;
  return write_meta(writer, order.in_order());
}

// Paths of calls that are only followed are needed until the names are made of them: then many belong to no event.
Result<void> Loader::drop_strings_of_none() {
  return execute(database_.handle(),
                 "DELETE FROM string WHERE id NOT IN (SELECT string_id FROM event_string)"
                 " AND id NOT IN (SELECT string_id FROM event_descriptor WHERE string_id IS NOT NULL)"
                 " AND id NOT IN (SELECT folder_id FROM object_total WHERE folder_id IS NOT NULL)"
                 " AND id NOT IN (SELECT string_id FROM object_total WHERE string_id IS NOT NULL)");
}

Result<void> Loader::write_losses(const EventWriter& events) {
  auto insert = database_.prepare("INSERT INTO loss VALUES(?1, ?2, ?3, ?4, ?5)");
  if (!insert) return insert.error();
  std::vector<LossFacts> losses = definitions_.losses;
  std::uint64_t left = std::numeric_limits<std::int64_t>::max();  // of all counts, so that no reader's sum overflows
  for (const auto& [key, loss] : events.losses()) losses.push_back(loss);
  // A gap in the numbers says how many records are missing; where it cannot, there is at least one for each damaged
  // place.
  if (const std::uint64_t missing = std::max(sequence_.unexplained(), damage_.regions); missing != 0)
    losses.push_back({reader_.header().start_ns, last_time_, missing, USC_LOSS_RAW_DAMAGED, {}});
  if (!sequence_.complete()) losses.push_back({last_time_, last_time_, 1, USC_LOSS_CUT_OFF, {}});
  if (changed_files_ != 0) {
    auto done = insert->run(reader_.header().start_ns, last_time_, trace::kFileChanged, std::nullopt, changed_files_);
    if (!done) return done;
    summary_.lost_beside += changed_files_;
  }
  for (LossFacts& loss : losses) {
    loss.count = std::min(loss.count, left);
    left -= loss.count;
    const std::string_view known_name = trace::loss_name(loss.cause);
    const std::string cause = known_name.empty() ? fmt::format("cause_{}", loss.cause) : std::string(known_name);
    const bool known = definitions_.processes.count(loss.process) != 0;
    auto done = insert->run(loss.from_ns, loss.until_ns, std::string_view(cause),
                            maybe_id(known ? loss.process : trace::ProcessId()), loss.count);
    if (!done) return done;
    const trace::LossClass missing = trace::loss_class(loss.cause);
    if (trace::counts_events(missing))
      summary_.lost += loss.count;
    else if (trace::leaves_out(missing) && !trace::loses_events(missing))
      summary_.lost_beside += loss.count;
  }
  return {};
}

Result<void> Loader::write_meta(const EventWriter& events, bool in_order) {
  const usc_raw_header& header = reader_.header();
  auto& meta = definitions_.meta;
  const std::uint64_t end = std::max(events.last_ns(), last_time_);
  const std::uint64_t start = said_time(meta, "start_ns", header.start_ns).value_or(header.start_ns);
  // What the trace says of its length counts more than its last record.
  meta.emplace("duration_ns", std::to_string(end - std::min(end, start)));
  meta["start_ns"] = std::to_string(start);
  meta["utc_offset_ns"] = std::to_string(header.utc_offset_ns);
  meta["cpus"] = std::to_string(header.cpus);
  if (const std::string_view isa = trace::isa_name(header.isa); !isa.empty()) meta["isa"] = isa;
  if (header.page_bytes != 0) meta["page_bytes"] = std::to_string(header.page_bytes);
  if (const std::string boot = trace::boot_id_text(header.boot_id); !boot.empty()) meta["boot_id"] = boot;
  if (const auto release = trace::fixed_text(header.kernel, sizeof(header.kernel)); !release.empty())
    meta.emplace("kernel", to_utf8(release));
  meta["schema"] = std::to_string(kSchemaVersion);
  meta["complete"] = sequence_.complete() ? "1" : "0";
  meta["ordered"] = in_order ? "1" : "0";
  meta["raw_skipped_bytes"] = std::to_string(damage_.skipped_bytes);
  meta["raw_unknown_records"] = std::to_string(damage_.unknown);
  if (!debug_troubles_.empty()) meta["debug_troubles"] = debug_troubles_;
  auto insert = database_.prepare("INSERT INTO meta VALUES(?1, ?2)");
  if (!insert) return insert.error();
  for (const auto& [key, value] : meta)
    if (auto done = insert->run(std::string_view(key), std::string_view(value)); !done) return done;
  return {};
}

// A trace that names no kernel is taken to be of this one.
bool Loader::same_kernel() const {
  const auto kernel = definitions_.meta.find("kernel");
  utsname names{};
  if (kernel == definitions_.meta.end() || ::uname(&names) != 0) return true;
  return kernel->second.find(names.release) != std::string::npos;
}

}  // namespace

Result<LoadSummary> load(trace::RawReader raw, DatabaseWriter database, const LoadOptions& options) {
  // Asked while SQLite works too: indices take long.
  constexpr int kSteps = 100'000;
  if (options.stop)
    sqlite3_progress_handler(
        database.handle(), kSteps, [](void* how) { return static_cast<const LoadOptions*>(how)->stop() ? 1 : 0; },
        const_cast<LoadOptions*>(&options));  // SQLite's way to hand a pointer through
  auto summary = fill(std::move(raw), database, options);
  if (!summary) return summary;
  if (auto done = database.commit(); !done) return done.error();
  if (options.progress) options.progress(1);
  return summary;
}

Result<LoadSummary> fill(trace::RawReader raw, DatabaseWriter& database, const LoadOptions& options) {
  return Loader(std::move(raw), database, options).run();
}

Result<LoadSummary> load(const std::filesystem::path& raw, const std::filesystem::path& database,
                         const LoadOptions& options) {
  auto reader = trace::RawReader::open(raw);
  if (!reader) return reader.error();
  auto writer = DatabaseWriter::create(database);
  if (!writer) return writer.error();
  return load(std::move(*reader), std::move(*writer), options);
}

}  // namespace uscope::store
