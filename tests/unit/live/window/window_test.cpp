// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/window/window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/frame_word.h"
#include "tests/support/window_cut.h"
#include "tests/unit/live/window/made_processes.h"

namespace uscope::live {
namespace {

// What made processes do not have: calls that are listed while they are open or were attached to, hits that last,
// signals, stacks in files, images, names and users, parts that come late, and looks.
class MadeTrace {
 public:
  explicit MadeTrace(std::uint64_t seed) : random_(seed) {
    MadeProcesses world(seed);
    usc_file file{};
    file.file = USC_FILE_FIRST;
    constexpr std::string_view kComponents("prog\0usr\0", 9);
    file.path_bytes = kComponents.size();
    add(std::move(trace::RecordBuilder<usc_file>(file).add(kComponents)));
    for (KeptRecord& record : world.make(400)) around(std::move(record));
    // Each thread that lives stays in a call, and is listed with it now and then.
    for (std::uint64_t times = 0; times < 20; times++)
      for (auto& [task, event] : last_) {
        usc_event stays = event;
        stays.entry_ns += 1'000'000;
        stays.head.time = stays.entry_ns + 1000 * times;
        stays.result = 0;
        stays.how = USC_HOW_OPEN;
        if (below(3) == 0) add(trace::RecordBuilder<usc_event>(stays));
      }
  }

  [[nodiscard]] std::vector<KeptRecord> take() { return std::move(records_); }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  template <typename Record>
  void add(trace::RecordBuilder<Record> record) {
    records_.push_back(keep(record.head()));
  }

  // A stack that is told of before an event names it, or long before.
  std::uint32_t stack() {
    if (stacks_ != 0 && below(3) != 0) return static_cast<std::uint32_t>(1 + below(stacks_));
    usc_stack stack{};
    stack.stack = ++stacks_;
    stack.depth = 2;
    stack.ended = USC_ENDED_ROOT;
    trace::RecordBuilder<usc_stack> record(stack);
    for (std::uint64_t at = 0; at < 2; at++) {
      const std::uint64_t frame = test::frame_word(USC_FILE_FIRST, 0x1000 + 16 * below(50), false);
      record.add(std::string_view(reinterpret_cast<const char*>(&frame), sizeof(frame)));
    }
    add(std::move(record));
    return stack.stack;
  }

  void around(KeptRecord&& record) {
    const usc_record head = head_of(record);
    if (head.type != USC_RECORD_EVENT) {
      // A string may come behind its call, from another CPU.
      if (head.type == USC_RECORD_STRING && below(8) == 0) {
        late_.push_back(std::move(record));
        return;
      }
      records_.push_back(std::move(record));
      if (head.type == USC_RECORD_TASK_EXIT)
        std::erase_if(lasting_, [&head](const usc_hit& hit) { return hit.head.task == head.task; });
      if (head.type == USC_RECORD_TASK_EXIT) last_.erase(head.task);
      return;
    }
    auto& event = *reinterpret_cast<usc_event*>(record.data());
    event.stack = stack();
    const usc_event ended = event;
    if (below(4) == 0) list(ended);
    const std::size_t between = below(3);
    for (std::size_t i = 0; i < between; i++) beside(ended);
    if (below(5) == 0) reinterpret_cast<usc_event*>(record.data())->stack = 0;
    records_.push_back(std::move(record));
    last_[ended.head.task] = ended;
    if (late_.empty() || below(2) == 0) return;
    for (KeptRecord& late : std::exchange(late_, {})) records_.push_back(std::move(late));
  }

  // The call while it is under way.
  void list(const usc_event& ended) {
    for (std::size_t times = 1 + below(2); times > 0; times--) {
      usc_event open = ended;
      open.how = below(3) == 0 ? USC_HOW_ATTACHED : USC_HOW_OPEN;
      open.head.time = ended.entry_ns + below(ended.head.time - ended.entry_ns + 1);
      open.result = 0;
      add(trace::RecordBuilder<usc_event>(open));
    }
  }

  void beside(const usc_event& event) {
    const std::size_t choice = below(6);
    if (choice == 0) {
      usc_task_name name{};
      name.head.task = event.head.task;
      name.head.time = event.entry_ns;
      fmt::format("name-{}", below(9)).copy(name.name, sizeof(name.name) - 1);
      add(trace::RecordBuilder<usc_task_name>(name));
    } else if (choice == 1) {
      usc_task_user user{};
      user.head.task = event.head.task;
      user.head.time = event.entry_ns;
      user.uid = static_cast<__u32>(below(5));
      add(trace::RecordBuilder<usc_task_user>(user));
    } else if (choice == 2) {
      usc_kind kind{};
      kind.source = USC_SOURCE_UFUNCTION;
      kind.kind = static_cast<__u32>(below(4));
      const std::string text = fmt::format("prog:f{}", kind.kind) + '\0';
      kind.text_bytes = static_cast<__u16>(text.size());
      add(std::move(trace::RecordBuilder<usc_kind>(kind).add(std::string_view(text))));
    } else if (choice == 3 && entered_.emplace(event.head.task, std::uint64_t{event.entry_ns}).second) {
      usc_hit hit{};
      hit.head.task = event.head.task;
      hit.entry_ns = event.entry_ns + 1;  // no call of the thread is entered then
      hit.head.time = event.head.time;
      hit.source = USC_SOURCE_UFUNCTION;
      hit.kind = static_cast<__u32>(below(4));
      hit.stack = stack();
      hit.how = USC_HOW_OPEN;
      add(trace::RecordBuilder<usc_hit>(hit));
      lasting_.push_back(hit);
    } else if (choice == 4 && !lasting_.empty()) {
      // The oldest: of the names of a thread before the last ones, none is kept (kFormerNames).
      usc_hit hit = lasting_.front();
      lasting_.erase(lasting_.begin());
      hit.how = USC_HOW_RETURNED;
      hit.head.time = std::max(hit.head.time, event.head.time);
      hit.result = 7;
      add(trace::RecordBuilder<usc_hit>(hit));
    } else if (choice == 5) {
      look(event);
    }
  }

  void look(const usc_event& event) {
    usc_look mark{};
    mark.look = ++looks_;
    mark.end = USC_LOOK_BEGIN;
    add(trace::RecordBuilder<usc_look>(mark));
    usc_thread_look thread{};
    thread.head.task = event.head.task;
    thread.head.time = event.entry_ns;
    thread.look = looks_;
    add(trace::RecordBuilder<usc_thread_look>(thread));
    mark.end = USC_LOOK_END;
    mark.records = 1;
    if (below(4) != 0) add(trace::RecordBuilder<usc_look>(mark));  // else it was given up
  }

  std::mt19937_64 random_;
  std::vector<KeptRecord> records_;
  std::vector<KeptRecord> late_;
  std::map<std::uint32_t, usc_event> last_;  // calls of threads that live
  std::vector<usc_hit> lasting_;
  std::set<std::pair<std::uint32_t, std::uint64_t>> entered_;  // a thread enters one function at a time
  std::uint32_t stacks_ = 0;
  std::uint32_t looks_ = 0;
};

TEST(Window, EventsBehindACutAreThoseOfTheWhole) {
  for (std::uint64_t seed = 1; seed <= 6; seed++) {
    std::vector<KeptRecord> records = MadeTrace(seed).take();
    const std::size_t count = records.size();
    auto cuts = test::WindowCuts::of(std::move(records));
    ASSERT_TRUE(cuts) << cuts.error().what;
    ASSERT_GT(cuts->whole().size(), 300U);
    for (std::size_t cut = seed; cut < count; cut += 53) {
      const auto text = cuts->differences(cut, cut % 2 == 0 ? 40 : 0);
      ASSERT_TRUE(text) << text.error().what;
      ASSERT_EQ(*text, "") << "seed " << seed << ", cut at " << cut << " of " << count;
    }
    EXPECT_GT(cuts->compared(), 3000U);
  }
}

std::vector<std::uint16_t> types_written(const Window& window) {
  auto folder = open_temporary_folder();
  auto trace = WindowTrace::begin(folder->get(), 1, 0);
  EXPECT_TRUE(window.write(*trace));
  auto file = trace->end();
  auto raw = trace::RawReader::open(std::move(*file), "window");
  std::vector<std::uint16_t> types;
  trace::RawRecord record;
  while (*raw->next(record))
    if (record.head.type != USC_RECORD_CPU_TOTAL) types.push_back(record.head.type);
  return types;
}

// The attachment's look, the last whole one, and what has come of the next.
TEST(Window, KeepsTheLooksThatTheLoaderUses) {
  Window window({});
  const auto mark = [&window](std::uint32_t number, std::uint32_t end, std::uint64_t records) {
    usc_look look{};
    look.look = number;
    look.end = end;
    look.records = records;
    window.take(trace::RecordBuilder<usc_look>(look).head());
  };
  const auto thread = [&window](std::uint32_t number) {
    usc_thread_look one{};
    one.look = number;
    window.take(trace::RecordBuilder<usc_thread_look>(one).head());
  };
  for (std::uint32_t look = 1; look <= 5; look++) {
    mark(look, USC_LOOK_BEGIN, 0);
    for (std::uint32_t i = 0; i < look; i++) thread(look);
    if (look < 5) mark(look, USC_LOOK_END, look == 4 ? 17 : look);  // of the fourth, records were lost
  }
  const std::vector<std::uint16_t> types = types_written(window);
  EXPECT_EQ(std::count(types.begin(), types.end(), USC_RECORD_LOOK), 5) << "two of the first, two of the third, one";
  EXPECT_EQ(std::count(types.begin(), types.end(), USC_RECORD_THREAD_LOOK), 1 + 3 + 5);
}

TEST(Window, WhatIsNotToBeKeptIsNot) {
  Window window({.descriptors = false, .looks = false});
  for (const KeptRecord& record : MadeTrace(3).take()) window.take(head_of(record));
  EXPECT_EQ(window.descriptors().size(), 0U);
  const std::vector<std::uint16_t> types = types_written(window);
  EXPECT_EQ(std::count(types.begin(), types.end(), USC_RECORD_LOOK), 0);
  EXPECT_EQ(std::count(types.begin(), types.end(), USC_RECORD_THREAD_LOOK), 0);
}

}  // namespace
}  // namespace uscope::live
