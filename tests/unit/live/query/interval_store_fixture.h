// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An IntervalStore, records for it, and the intervals that it closed.
#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>

#include <filesystem>
#include <limits>
#include <memory>

#include "live/query/interval_store.h"
#include "live/query/partial_view.h"
#include "store/reused_store.h"
#include "support/private_file.h"
#include "tests/support/question_maker.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/live/query/programs.h"
#include "trace/record_builder.h"

namespace uscope::query {

inline constexpr std::uint64_t kBegin = 5'000'000'000;
inline constexpr std::uint64_t kSecond = 1'000'000'000;

class IntervalStoreTest : public testing::Test {
 protected:
  // A file without a name.
  void SetUp() override {
    auto opened = open_temporary_folder();
    ASSERT_TRUE(opened);
    folder_ = std::move(*opened);
  }

  void begin(std::uint64_t interval_ns, bool stacks = true, std::uint64_t length_ns = 0,
             std::size_t most_stacks = IntervalStore::kMostStacks) {
    plan_.needs.stack = stacks;
    store_.emplace(
        plan_, interval_ns, length_ns, folder_.get(),
        [this](ClosedInterval&& closed) {
          closed_.push_back(std::move(closed));
          return Result<void>();
        },
        most_stacks);
    put(task(1));
    put(exec(1));
    store_->on_start(kBegin);
  }

  template <typename Record>
  void put(trace::RecordBuilder<Record> record) {
    ASSERT_TRUE(store_->append(record.head()));
  }

  static trace::RecordBuilder<usc_task> task(std::uint32_t serial, std::uint32_t process = 1) {
    usc_task task{};
    task.head.task = serial;
    task.head.time = kBegin - 5;
    task.process = process;
    task.pid = task.tid = 99 + serial;
    task.flags = USC_TASK_PROCESS;
    task.image = process;
    std::string_view("begun").copy(task.name, sizeof(task.name));
    return trace::RecordBuilder<usc_task>(task);
  }
  static trace::RecordBuilder<usc_task_name> name(std::uint32_t serial, std::string_view text, std::uint64_t time) {
    usc_task_name name{};
    name.head.task = serial;
    name.head.time = time;
    text.copy(name.name, sizeof(name.name));
    return trace::RecordBuilder<usc_task_name>(name);
  }
  static trace::RecordBuilder<usc_guise> guise(std::uint32_t serial, std::uint32_t number, std::string_view text,
                                               std::uint64_t time, std::uint32_t uid = 0) {
    usc_guise guise{};
    guise.head.task = serial;
    guise.head.time = time;
    guise.guise = number;
    guise.image = 1;
    guise.uid = uid;
    text.copy(guise.name, sizeof(guise.name));
    return trace::RecordBuilder<usc_guise>(guise);
  }
  static trace::RecordBuilder<usc_exec> exec(std::uint32_t process) {
    usc_exec exec{};
    exec.head.task = exec.process = exec.image = process;
    exec.head.time = kBegin - 4;
    exec.path_bytes = 4;
    std::string_view("begun").copy(exec.name, sizeof(exec.name));
    return std::move(trace::RecordBuilder<usc_exec>(exec).add(std::string_view("/app")));
  }
  static trace::RecordBuilder<usc_task_exit> exit(std::uint32_t serial, std::uint64_t time) {
    usc_task_exit exit{};
    exit.head.task = serial;
    exit.process = serial;
    exit.head.time = time;
    exit.flags = USC_EXIT_GROUP_DEAD;
    return trace::RecordBuilder<usc_task_exit>(exit);
  }
  static trace::RecordBuilder<usc_event> call(std::uint64_t entry, std::uint64_t end,
                                              std::uint8_t how = USC_HOW_RETURNED, std::uint32_t stack = 0,
                                              std::uint32_t serial = 1) {
    usc_event event{};
    event.head.task = serial;
    event.head.time = end;
    event.entry_ns = entry;
    event.how = how;
    event.stack = stack;
    event.abi = USC_ABI_X86_64;
    event.result = 8;
    return trace::RecordBuilder<usc_event>(event);
  }
  static trace::RecordBuilder<usc_hit> hit(usc_source source, std::uint64_t entry, std::uint64_t end,
                                           std::uint8_t how = USC_HOW_HIT, std::uint32_t stack = 0) {
    usc_hit hit{};
    hit.head.task = 1;
    hit.head.time = end;
    hit.entry_ns = entry;
    hit.source = source;
    hit.kind = 1;
    hit.how = how;
    hit.stack = stack;
    hit.args[1] = 77;
    hit.flags = USC_EVENT_NO_RESULT;
    hit.frames = 1;
    const std::uint32_t place = 1;
    return std::move(trace::RecordBuilder<usc_hit>(hit).add_values(std::span(&place, 1)));
  }
  static trace::RecordBuilder<usc_kind> kind(usc_source source, std::string_view texts, std::uint8_t args) {
    usc_kind kind{};
    kind.source = source;
    kind.kind = 1;
    kind.args = args;
    kind.text_bytes = static_cast<__u16>(texts.size());
    return std::move(trace::RecordBuilder<usc_kind>(kind).add(texts));
  }
  static trace::RecordBuilder<usc_kernel_place> place(std::string_view text) {
    usc_kernel_place place{};
    place.place = 1;
    place.text_bytes = static_cast<__u16>(text.size());
    return std::move(trace::RecordBuilder<usc_kernel_place>(place).add(text));
  }
  static trace::RecordBuilder<usc_stack> stack(std::uint32_t id) {
    usc_stack stack{};
    stack.stack = id;
    stack.depth = 1;
    stack.mm = 1;
    const std::uint64_t frame = 0x4000;
    return std::move(trace::RecordBuilder<usc_stack>(stack).add_values(std::span(&frame, 1)));
  }

  // Sums by thread and its guise.
  void ask_by_guise() {
    plan_.way = Way::kSums;
    plan_.program = test::question_of(2, 0,
                                      {test::field(0, USC_QUERY_TASK), test::give(USC_QUERY_KEY, 0, 0),
                                       test::field(1, USC_QUERY_GUISE), test::give(USC_QUERY_KEY, 1, 1)});
    plan_.keys = {{Key::kTask, ""}, {Key::kGuise, ""}};
  }

  // What SQL says of the trace of a closed interval.
  std::string ask(ClosedInterval& closed, const std::string& sql) {
    auto raw = trace::RawReader::open(std::move(closed.trace), "interval");
    if (!raw) return raw.error().what;
    auto store = store::ReusedStore::create(folder_.get());
    if (!store) return store.error().what;
    Plan asked = plan_;
    asked.outer = sql;
    std::unique_ptr<PartialView> partial;
    if (plan_.way == Way::kSums) {
      auto made = PartialView::create(*store, asked);
      if (!made) return made.error().what;
      partial = std::move(*made);
    }
    const auto loaded = store->load(std::move(*raw), {});
    if (!loaded) return loaded.error().what;
    EXPECT_TRUE(loaded->complete);
    EXPECT_EQ(loaded->damaged_bytes, 0U);
    if (partial)
      if (auto done = partial->show(std::move(closed.rows)); !done) return done.error().what;
    if (auto done = store->protect(); !done) return done.error().what;
    auto rows = store::Statement::prepare(store->handle(), sql);
    if (!rows) return rows.error().what;
    std::string text;
    while (*rows->step()) {
      for (int i = 0; i < rows->columns(); i++) text += std::string(i == 0 ? "" : "|") + std::string(rows->text(i));
      text += "\n";
    }
    return text;
  }

  // What the tracer does once what was sent before this time has been seen.
  void rounds(std::uint64_t before) {
    store_->on_round(before);
    if (store_->wants_sums()) store_->on_sums_sent();
    if (!store_->wants_losses()) return;
    store_->on_losses_recorded();
    store_->on_round(before);
  }

  UniqueFd folder_;
  Plan plan_;
  std::optional<IntervalStore> store_;
  std::vector<ClosedInterval> closed_;
};

}  // namespace uscope::query
