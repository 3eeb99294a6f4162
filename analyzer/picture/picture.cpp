// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/picture/picture.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analyzer/read/query.h"
#include "analyzer/read/trigger_modules.h"
#include "analyzer/time/time.h"
#include "syscalls/errno_names.h"

namespace uscope::analyzer {
namespace {

// The function that is the trigger of each stack.
class Triggers {
 public:
  struct Function {
    std::string name;
    std::string module;
    bool fallback = false;
  };

  // `functions()[0]` is that of events without a stack or a trigger.
  Result<void> read(const store::Database& database) {
    functions_.emplace_back();
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    std::unordered_map<std::int64_t, std::size_t> of_frame;
    auto done =
        each_row(database,
                 std::string("SELECT frame.id, frame.function, m.path, ") + kIsFallback +
                     " FROM frame LEFT JOIN module m ON m.id = frame.module_id "
                     "WHERE frame.id IN (SELECT trigger_frame_id FROM stack)",
                 [&](const SqlRow& row) {
                   Function function{text(row, 1), text(row, 2), row.integer(3) != 0};
                   const auto [at, is_new] = known.try_emplace({function.name, function.module}, functions_.size());
                   of_frame.emplace(row.integer(0), at->second);
                   if (is_new) functions_.push_back(std::move(function));
                 });
    if (!done) return done;
    return each_row(database, "SELECT id, trigger_frame_id FROM stack WHERE trigger_frame_id IS NOT NULL",
                    [&](const SqlRow& row) {
                      const auto function = of_frame.find(row.integer(1));
                      if (function != of_frame.end()) of_stack_.emplace(row.integer(0), function->second);
                    });
  }

  [[nodiscard]] std::size_t of(StackRowId stack) const {
    const auto function = of_stack_.find(stack.value());
    return function == of_stack_.end() ? 0 : function->second;
  }
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

 private:
  std::vector<Function> functions_;
  std::unordered_map<std::int64_t, std::size_t> of_stack_;
};

// Sums of two times do not overflow, whatever the store says.
constexpr std::int64_t kLongest = INT64_MAX / 4;

struct KindFacts {
  CallGroup group = CallGroup::kNone;
  TimeUse use = TimeUse::kNothing;
};

enum Column : int { kId, kThread, kTime, kDuration, kHow, kKind, kResult, kStack, kPart, kImage };

class PictureReader {
 public:
  PictureReader(const store::Database& database, const Catalog& catalog, const Part& part, const PictureLimits& limits)
      : database_(database), catalog_(catalog), part_(part), limits_(limits) {
    picture_.duration_ns = std::clamp<std::int64_t>(difference(catalog.end_ns, catalog.start_ns), 0, kLongest);
  }

  Result<Picture> run() {
    for (const Kind& kind : catalog_.kinds) kinds_.push_back({group_of(kind), use_of(kind)});
    if (auto done = triggers_.read(database_); !done) return done.error();
    auto lives = this->lives();
    if (!lives) return lives.error();
    TimeLine line(*lives, limits_.marks);
    EventCube cube(picture_.duration_ns, limits_.cube);
    StackSummer stacks;
    auto done = each_row(
        database_,
        "SELECT id, thread_id, ts_ns, dur_ns, iif(dur_ns IS NULL, how, ''), kind_id, result, stack_id, a1, image_id "
        "FROM event",
        [&](const SqlRow& row) {
          const Kind* kind = catalog_.kinds.find(KindRowId(row.integer(kKind)));
          if (kind == nullptr || !is_in_part(row)) return;
          const std::size_t place = catalog_.kinds.index_of(*kind);
          const PictureEvent event = read_event(row, place);
          line.add(event);
          cube.add(event, place);
          stacks.add(event, ImageRowId(row.integer(kImage)), StackRowId(row.integer(kStack)));
        });
    if (!done) return done.error();
    picture_.threads = line.finish();
    picture_.heat = cube.heat();
    picture_.heat_left_out = cube.heat_left_out();
    picture_.cube = cube.counts();
    std::vector<std::string> functions;
    for (std::size_t cell = 0; cell < picture_.cells.size(); cell++) {
      picture_.cells[cell].in_cube = !cube.is_left_out(cell);
      functions.push_back(picture_.cells[cell].function);
    }
    auto tree = stacks.finish(database_, catalog_, functions, limits_.stacks);
    if (!tree) return tree.error();
    picture_.stacks = std::move(*tree);
    return std::move(picture_);
  }

 private:
  [[nodiscard]] bool is_in_part(const SqlRow& row) const {
    if (part_.is_all()) return true;
    const Thread* thread = catalog_.threads.find(ThreadRowId(row.integer(kThread)));
    return thread != nullptr && part_.has(*thread, row.integer(kTime));
  }

  // A time of the store, within the trace.
  [[nodiscard]] std::int64_t within(std::int64_t ts_ns) const {
    return std::clamp<std::int64_t>(difference(ts_ns, catalog_.start_ns), 0, picture_.duration_ns);
  }

  Result<std::vector<TimeLine::Life>> lives() const {
    std::vector<TimeLine::Life> lives;
    for (const Thread& thread : catalog_.threads) {
      const std::int64_t begin = thread.start_ns ? within(*thread.start_ns) : 0;
      const std::optional<std::int64_t> end = thread.end_ns ? thread.end_ns : thread.left_ns;
      lives.push_back({begin, end ? within(*end) : picture_.duration_ns, 0});
    }
    auto done = each_row(database_, "SELECT thread_id, events FROM thread_total", [&](const SqlRow& row) {
      const Thread* thread = catalog_.threads.find(ThreadRowId(row.integer(0)));
      if (thread != nullptr)
        lives[catalog_.threads.index_of(*thread)].events =
            static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(1)));
    });
    if (!done) return done.error();
    return lives;
  }

  std::size_t cell_of(std::size_t kind, std::size_t function) {
    const auto [at, is_new] = cells_.try_emplace(kind << 32U | function, picture_.cells.size());
    if (is_new) {
      const Triggers::Function& trigger = triggers_.functions()[function];
      picture_.cells.push_back({kind, trigger.name, trigger.module, trigger.fallback});
    }
    return at->second;
  }

  PictureEvent read_event(const SqlRow& row, std::size_t kind) {
    PictureEvent event;
    event.id = EventRowId(row.integer(kId));
    const Thread* thread = catalog_.threads.find(ThreadRowId(row.integer(kThread)));
    event.thread = thread == nullptr ? catalog_.threads.size() : catalog_.threads.index_of(*thread);
    event.cell = cell_of(kind, triggers_.of(StackRowId(row.integer(kStack))));
    event.ts_ns = within(row.integer(kTime));
    event.group = kinds_[kind].group;
    event.use = kinds_[kind].use;
    if (!row.is_null(kDuration)) {
      event.dur_ns = std::clamp<std::int64_t>(row.integer(kDuration), 0, picture_.duration_ns);
    } else {
      const std::string_view how = row.text(kHow);
      event.open = how == "open" || how == "attached";
    }
    if (event.group != CallGroup::kNone && !row.is_null(kResult) && syscalls::is_error(row.integer(kResult)))
      event.error = -row.integer(kResult);
    const bool is_sample = event.use == TimeUse::kUser || event.use == TimeUse::kKernel;
    if (is_sample) event.part_ns = std::clamp<std::int64_t>(row.integer(kPart), 0, picture_.duration_ns);

    PictureCell& cell = picture_.cells[event.cell];
    const auto ns = static_cast<std::uint64_t>(is_sample ? event.part_ns : event.dur_ns.value_or(0));
    cell.events++;
    cell.errors += event.error != 0 ? 1 : 0;
    cell.open += event.open ? 1 : 0;
    cell.total_ns += ns;
    cell.longest_ns = std::max(cell.longest_ns, ns);
    return event;
  }

  const store::Database& database_;
  const Catalog& catalog_;
  const Part& part_;
  const PictureLimits& limits_;
  Picture picture_;
  Triggers triggers_;
  std::vector<KindFacts> kinds_;  // like Catalog::kinds
  std::unordered_map<std::uint64_t, std::size_t> cells_;
};

}  // namespace

Result<Picture> read_picture(const store::Database& database, const Catalog& catalog, const Part& part,
                             const PictureLimits& limits) {
  return PictureReader(database, catalog, part, limits).run();
}

}  // namespace uscope::analyzer
