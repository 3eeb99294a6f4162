// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Random events, twice: as rows of a store, and as the kernel side has them; and the partial rows of a question over
// the latter, as a small table with spills makes them.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "query/plan/plan.h"
#include "store/db/schema.h"
#include "store/db/statement.h"
#include "syscalls/syscall_table.h"
#include "trace/names.h"
#include "uscope/query_rows.h"
#include "uscope/query_run.h"
#include "uscope/record.h"

namespace uscope::query {

// What a statement gives: rows of values with their types; or its error.
struct Rows {
  struct Value {
    int type = SQLITE_NULL;
    double real = 0;
    std::string text;
  };
  std::vector<std::string> names;
  std::vector<std::vector<Value>> rows;
  std::string error;
};

class EventWorld {
 public:
  // `wild`: numbers of all sizes; else such that no sum goes beyond 2^53.
  EventWorld(std::mt19937_64& random, bool wild, std::size_t events) : random_(random), wild_(wild) {
    sqlite3* raw = nullptr;
    EXPECT_EQ(sqlite3_open(":memory:", &raw), SQLITE_OK);
    database_.reset(raw);
    run(store::create_schema(raw));
    run(add_functions(raw));
    names();
    for (std::size_t i = 0; i < events; i++) add_event(i + 1);
    run(store::create_indices(raw));
  }

  struct Counts {
    std::size_t events = 0;
    std::size_t wholes = 0;
    std::size_t rows = 0;
  };

  Rows direct(const std::string& sql) { return rows(sql); }

  // The answer by the plan.
  Rows by_plan(const Plan& plan, Counts& counts) {
    make_partial(plan, counts);
    Rows result = rows(plan.outer);
    execute("DROP VIEW temp.partial; DROP TABLE temp.part; DROP TABLE IF EXISTS temp.wholes");
    return result;
  }

 private:
  struct Kind {
    std::uint8_t source;
    std::uint8_t abi;
    std::uint32_t nr;
    std::string name;
  };
  struct HeldEvent {
    usc_event event;
    std::uint32_t unread;  // as in usc_hit
  };

  static void run(const Result<void>& done) { ASSERT_TRUE(done) << done.error().what; }
  void execute(const std::string& sql) {
    const auto done = store::execute(database_.get(), sql);
    ASSERT_TRUE(done) << sql << ": " << done.error().what;
  }
  std::size_t below(std::size_t end) { return random_() % end; }

  void names() {
    execute(R"sql(
INSERT INTO process(id, pid, cgroup, container) VALUES (1, 100, '/a.slice/b.scope', NULL), (2, 101, '/', NULL),
  (3, 64, '/docker/0f', '0f');
INSERT INTO image VALUES (1, 1, 0, '/n', '[]', 'nginx', '[]'), (2, 2, 0, '/p', '[]', 'php', '[]'), (3, 3, 0, '/m', '[]', 'main', '[]');
INSERT INTO thread(id, process_id, tid, name) VALUES (1, 1, 100, 'nginx'), (2, 1, 110, 'worker'), (3, 2, 101, 'Worker'), (4, 3, 64, NULL), (5, NULL, NULL, NULL);
INSERT INTO thread_name VALUES (2, 0, 'worker'), (2, 102500, 'again');
INSERT INTO thread_user VALUES (2, 0, 1000), (2, 102500, 0), (3, 0, 33);
INSERT INTO module VALUES (1, '/n', NULL, 'app'), (2, '/lib/libc.so', NULL, 'library');
INSERT INTO frame(id, module_id, rel_pc, function, function_offset, file, line, inlined) VALUES (1, 1, 1, 'main', NULL, NULL, NULL, 0), (2, 1, 2, 'handle', NULL, NULL, NULL, 0), (3, 2, 3, 'read', NULL, NULL, NULL, 0);
INSERT INTO stack(id, depth, ended, trigger_frame_id, trigger_fallback, folded) VALUES (1, 2, 'root', 1, 0, 'main;read'), (2, 3, 'root', 2, 0, 'main;handle;read'), (3, 1, 'broken:no_rows', NULL, 0, 'read'), (4, 5, 'budget', 1, 0, 'x;main');
)sql");
    for (const auto& [source, abi, name] :
         std::vector<std::tuple<int, int, std::string>>{{USC_SOURCE_SYSCALL, USC_ABI_X86_64, "read"},
                                                        {USC_SOURCE_SYSCALL, USC_ABI_X86_64, "write"},
                                                        {USC_SOURCE_SYSCALL, USC_ABI_X86_64, "openat"},
                                                        {USC_SOURCE_SYSCALL, USC_ABI_X86_64, "futex"},
                                                        {USC_SOURCE_SYSCALL, USC_ABI_I386, "read"},
                                                        {USC_SOURCE_SYSCALL, USC_ABI_X32, "read"}})
      kinds_.push_back({static_cast<std::uint8_t>(source), static_cast<std::uint8_t>(abi),
                        *syscalls::syscall_number(static_cast<usc_abi>(abi), name), name});
    kinds_.push_back({USC_SOURCE_SYSCALL, USC_ABI_X86_64, 511, syscalls::syscall_name(USC_ABI_X86_64, 511)});
    kinds_.push_back({USC_SOURCE_SYSCALL, USC_ABI_X86_64, 900, syscalls::syscall_name(USC_ABI_X86_64, 900)});
    kinds_.push_back({USC_SOURCE_SIGNAL, 0, 15, "SIGTERM delivered"});
    kinds_.push_back({USC_SOURCE_LOGGED, 0, 7, "Read vfs"});
    kinds_.push_back({USC_SOURCE_UFUNCTION, 0, 1, "libc.so.6:read"});
    kinds_.push_back({USC_SOURCE_TRACEPOINT, 0, 1, "sched:sched_switch"});
    auto insert = store::Statement::prepare(database_.get(), "INSERT INTO kind VALUES(?1, ?2, ?3, ?4, ?5)");
    ASSERT_TRUE(insert);
    for (std::size_t i = 0; i < kinds_.size(); i++) {
      const bool is_call = kinds_[i].source == USC_SOURCE_SYSCALL;
      run(insert->run(i + 1, std::string_view(kinds_[i].name), trace::source_name(kinds_[i].source),
                      is_call ? trace::abi_name(kinds_[i].abi) : std::string_view("none"), kinds_[i].nr));
    }
  }

  // The guise of a task with this image that has been renamed is a greater number.
  static constexpr __u32 kRenamed = 8;

  std::int64_t number() {
    constexpr std::array<std::int64_t, 14> kEdges{0,
                                                  1,
                                                  -1,
                                                  63,
                                                  64,
                                                  -63,
                                                  -64,
                                                  2,
                                                  1000,
                                                  4096,
                                                  4294967296,
                                                  -4294967296,
                                                  std::numeric_limits<std::int64_t>::min(),
                                                  std::numeric_limits<std::int64_t>::max()};
    if (wild_ && below(2) == 0) return kEdges.at(below(kEdges.size()));
    if (wild_ && below(4) == 0) return static_cast<std::int64_t>(random_());
    return below(2) == 0 ? static_cast<std::int64_t>(below(8)) : static_cast<std::int64_t>(below(10000)) - 100;
  }

  std::uint8_t how_of(const Kind& kind) {
    if (kind.source == USC_SOURCE_SIGNAL) return USC_HOW_DELIVERED;
    if (kind.source == USC_SOURCE_LOGGED) return USC_HOW_LOGGED;
    if (kind.source == USC_SOURCE_TRACEPOINT) return USC_HOW_HIT;
    if (kind.source == USC_SOURCE_UFUNCTION) return below(2) == 0 ? USC_HOW_RETURNED : USC_HOW_OPEN;
    constexpr std::array kHows{USC_HOW_RETURNED, USC_HOW_RETURNED, USC_HOW_RETURNED, USC_HOW_RETURNED,
                               USC_HOW_OPEN,     USC_HOW_NO_ENTRY, USC_HOW_KILLED};
    return static_cast<std::uint8_t>(kHows.at(below(kHows.size())));
  }

  void add_event(std::size_t id) {
    const std::size_t kind = below(kinds_.size());
    usc_event event{};
    event.source = kinds_[kind].source;
    event.abi = kinds_[kind].abi;
    event.kind = kinds_[kind].nr;
    event.how = how_of(kinds_[kind]);
    event.head.task = static_cast<__u32>(1 + below(5));
    event.image = static_cast<__u32>(below(4));
    event.stack = static_cast<__u32>(below(5));
    event.entry_ns = (wild_ ? 1'000'000'000'000'000ULL : 100'000) + below(5000);
    if (event.head.task == 2 && event.entry_ns >= 102'500) event.image += kRenamed;
    event.head.time = event.entry_ns + (below(3) == 0 ? below(1 << 20) : below(100));
    event.result = below(3) == 0 ? -static_cast<std::int64_t>(below(12)) : number();
    for (__u64& argument : event.args) argument = static_cast<__u64>(number());
    if (below(9) == 0) event.flags |= USC_EVENT_NO_RESULT;
    if (below(9) == 0) event.flags |= USC_EVENT_ATTACHED;
    // Of probes' arguments that could not be read nothing is known, whatever stands there.
    const bool is_hit = event.source == USC_SOURCE_UFUNCTION || event.source == USC_SOURCE_TRACEPOINT;
    const auto unread = is_hit ? static_cast<std::uint32_t>(below(64)) : 0U;
    events_.push_back({event, unread});
    insert(id, kind + 1, events_.back());
  }

  // What the loader writes: store/write/event_writer.cpp.
  void insert(std::size_t id, std::size_t kind, const HeldEvent& held) {
    const usc_event& event = held.event;
    const bool returned = event.how == USC_HOW_RETURNED;
    const bool has_result = (returned || event.how == USC_HOW_NO_ENTRY) && !(event.flags & USC_EVENT_NO_RESULT);
    const bool attached = (event.flags & USC_EVENT_ATTACHED) && (returned || event.how == USC_HOW_OPEN);
    using Maybe = std::optional<std::int64_t>;
    const auto argument = [&held](std::size_t i) {
      return (held.unread >> i & 1U) != 0 ? Maybe() : Maybe(static_cast<std::int64_t>(held.event.args[i]));
    };
    auto statement = store::Statement::prepare(
        database_.get(),
        "INSERT INTO event VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, NULL)");
    ASSERT_TRUE(statement);
    run(statement->run(id, event.entry_ns,
                       returned ? Maybe(static_cast<std::int64_t>(event.head.time - event.entry_ns)) : Maybe(),
                       trace::how_name(attached ? std::uint32_t{USC_HOW_ATTACHED} : event.how), event.head.task,
                       event.image % kRenamed ? Maybe(event.image % kRenamed) : Maybe(), kind,
                       has_result ? Maybe(event.result) : Maybe(), event.stack ? Maybe(event.stack) : Maybe(),
                       argument(0), argument(1), argument(2), argument(3), argument(4), argument(5)));
  }

  static bool is_recorded(const Plan& plan, const usc_event& event) {
    if (event.source != USC_SOURCE_SYSCALL) return true;
    const std::uint32_t nr = event.abi == USC_ABI_X32 ? event.kind & ~0x40000000U : event.kind;
    if (nr >= 512) return true;
    const auto& calls = event.abi == USC_ABI_I386 ? plan.calls[USC_CALLS_COMPAT] : plan.calls[USC_CALLS_NATIVE];
    return (calls.at(nr / 64) >> nr % 64 & 1) != 0;
  }

  // Of rows that differ in the word of a step alone (`word`: 1 more than its number; 0: there is none), any may have
  // what was measured: one of the others has it now.
  static void move_measures(std::uint32_t word, std::vector<usc_query_row>& rows) {
    if (word == 0) return;
    for (std::size_t to = 0; to < rows.size(); to++)
      for (std::size_t from = to + 1; from < rows.size(); from++) {
        usc_query_key key = rows[from].key;
        key.word[word - 1] = rows[to].key.word[word - 1];
        if (!usc_query_same_key(&key, &rows[to].key)) continue;
        for (std::size_t i = 0; i < USC_QUERY_MEASURES; i++)
          if (rows[to].sum[i].count == 0) std::swap(rows[to].sum[i], rows[from].sum[i]);
      }
  }

  void make_partial(const Plan& plan, Counts& counts) {
    constexpr std::size_t kSlots = 4;
    std::array<usc_query_row, kSlots> table{};
    std::vector<usc_query_row> given;
    std::string wholes = "0";
    const auto spill = [&](usc_query_row& row) {
      if (row.events) given.push_back(row);
      row.events = 0;
    };
    for (std::size_t i = 0; i < events_.size(); i++) {
      if (!is_recorded(plan, events_[i].event)) continue;
      usc_query_input input;
      usc_query_state state;
      usc_query_fill(&input, &events_[i].event, events_[i].unread);
      const usc_query_end end = usc_query_run(&plan.program, &input, &state);
      counts.events++;
      counts.wholes += end == USC_QUERY_WHOLE;
      if (end == USC_QUERY_WHOLE) wholes += "," + std::to_string(i + 1);
      if (end == USC_QUERY_WHOLE) {
        EXPECT_NE(plan.whole, "") << plan.text;
      }
      if (end != USC_QUERY_GIVEN) continue;
      usc_query_row& row = table.at(usc_query_hash(&state.key) % kSlots);
      const bool other = row.events && !usc_query_same_key(&row.key, &state.key);
      if (other || below(8) == 0 || (row.events && usc_query_sums_overflow(&row, &state, plan.program.measures)))
        spill(row);
      usc_query_add(&row, &state, plan.program.measures);
    }
    for (usc_query_row& row : table) spill(row);
    move_measures(usc_query_steps_word(&plan.program), given);
    counts.rows += given.size();
    store_rows(plan, given);
    make_view(plan, wholes);
  }

  static std::string columns_of(const Plan& plan) {
    std::string names;
    for (const KeyWord& word : plan.keys)
      if (word.what == Key::kExpression) names += ", " + word.column;
    names += ", n";
    for (std::size_t i = 0; i < plan.measures.size(); i++) names += fmt::format(", c{0}, s{0}, mn{0}, mx{0}", i);
    return names;
  }

  void store_rows(const Plan& plan, const std::vector<usc_query_row>& given) {
    execute("CREATE TEMP TABLE part(how TEXT, thread_id, image_id, kind_id, class TEXT, errno, stack, renamed" +
            columns_of(plan) + ")");
    for (const usc_query_row& row : given)
      execute(fmt::format("INSERT INTO temp.part VALUES({}{})", dimensions_of(plan, row), numbers_of(plan, row)));
  }

  std::string dimensions_of(const Plan& plan, const usc_query_row& row) {
    std::map<Key, std::int64_t> words;
    for (std::size_t i = 0; i < plan.keys.size(); i++) words[plan.keys[i].what] = row.key.word[i];
    const bool renamed = words.count(Key::kGuise) != 0 && words[Key::kGuise] >= kRenamed;
    if (words.count(Key::kGuise) != 0) words[Key::kImage] = words[Key::kGuise];
    if (words.count(Key::kImage) != 0) words[Key::kImage] %= kRenamed;
    const auto word = [&](Key key) { return words.count(key) ? std::to_string(words[key]) : std::string("NULL"); };
    const auto name = [&](Key key, std::string_view (*name_of)(std::uint32_t)) {
      return words.count(key) ? fmt::format("'{}'", name_of(static_cast<std::uint32_t>(words[key]))) : "NULL";
    };
    std::string kind = "NULL";
    for (std::size_t i = 0; words.count(Key::kKind) && i < kinds_.size(); i++)
      if (kinds_[i].source == words[Key::kSource] && kinds_[i].nr == words[Key::kKind] &&
          kinds_[i].abi == words[Key::kAbi])
        kind = std::to_string(i + 1);
    return fmt::format("{}, {}, {}, {}, {}, {}, {}, {}", name(Key::kHow, trace::how_name), word(Key::kTask),
                       word(Key::kImage), kind, name(Key::kSource, trace::source_name), word(Key::kError),
                       word(Key::kStack), renamed ? 1 : 0);
  }

  static std::string numbers_of(const Plan& plan, const usc_query_row& row) {
    std::string numbers;
    const auto put = [&](bool null, std::int64_t number) { numbers += ", " + (null ? "NULL" : number_text(number)); };
    for (std::size_t i = 0; i < plan.keys.size(); i++)
      if (plan.keys[i].what == Key::kExpression) put((row.key.nulls >> i & 1) != 0, row.key.word[i]);
    put(false, static_cast<std::int64_t>(row.events));
    for (std::size_t i = 0; i < plan.measures.size(); i++) {
      const usc_query_sum& sum = row.sum[i];
      put(false, static_cast<std::int64_t>(sum.count));
      put(false, sum.sum);
      put(sum.count == 0, sum.least);
      put(sum.count == 0, sum.greatest);
    }
    return numbers;
  }

  static std::string number_text(std::int64_t number) {
    return number == std::numeric_limits<std::int64_t>::min() ? "(-9223372036854775807 - 1)" : std::to_string(number);
  }

  void make_view(const Plan& plan, const std::string& wholes) {
    std::string view =
        "CREATE TEMP VIEW partial AS SELECT part.how AS how, process.pid AS pid, thread.tid AS tid, "
        "CAST(CASE thread_id WHEN 2 THEN iif(part.renamed, 0, 1000) WHEN 3 THEN 33 END AS INTEGER) AS uid, "
        "image.name AS process, CAST(iif(part.renamed, 'again', thread.name) AS TEXT) AS thread, kind.name AS kind, "
        "part.class AS class, errno_name.name AS "
        "errno, "
        "stack.id AS stack_id, stack.depth AS depth, stack.ended AS ended, frame.function AS \"trigger\", "
        "module.path AS trigger_module, stack.folded AS folded, process.cgroup AS cgroup, "
        "process.container AS container" +
        columns_of(plan) +
        " FROM temp.part LEFT JOIN kind ON kind.id = kind_id "
        "LEFT JOIN thread ON thread.id = thread_id LEFT JOIN process ON process.id = thread.process_id "
        "LEFT JOIN image ON image.id = image_id LEFT JOIN errno_name ON errno_name.number = part.errno "
        "LEFT JOIN stack ON stack.id = part.stack LEFT JOIN frame ON frame.id = stack.trigger_frame_id "
        "LEFT JOIN module ON module.id = frame.module_id";
    if (!plan.whole.empty()) {
      execute("CREATE TEMP VIEW v_event AS SELECT * FROM main.v_event WHERE id IN (" + wholes + ")");
      execute("CREATE TEMP TABLE wholes AS " + plan.whole);
      execute("DROP VIEW temp.v_event");
      view +=
          " UNION ALL SELECT how, pid, tid, uid, process, thread, kind, class, errno, stack_id, depth, ended, "
          "\"trigger\", "
          "trigger_module, folded, cgroup, container" +
          columns_of(plan) + " FROM temp.wholes";
    }
    execute(view);
  }

  Rows rows(const std::string& sql) {
    Rows result;
    auto query = store::Statement::prepare(database_.get(), sql);
    if (!query) {
      result.error = query.error().what;
      return result;
    }
    for (int i = 0; i < query->columns(); i++) result.names.push_back(query->column_name(i));
    for (;;) {
      auto row = query->step();
      if (!row) {
        result.error = row.error().what;
        return result;
      }
      if (!*row) return result;
      std::vector<Rows::Value> values;
      values.reserve(result.names.size());
      for (int i = 0; i < query->columns(); i++)
        values.push_back({query->type(i), query->real(i), std::string(query->text(i))});
      result.rows.push_back(std::move(values));
    }
  }

  std::mt19937_64& random_;
  bool wild_;
  store::SqliteHandle database_;
  std::vector<Kind> kinds_;
  std::vector<HeldEvent> events_;
};

}  // namespace uscope::query
