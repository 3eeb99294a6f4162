// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/schema.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "store/db/statement.h"
#include "tests/support/paths.h"

namespace uscope::store {
namespace {

class SchemaTest : public testing::Test {
 protected:
  void SetUp() override {
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(":memory:", &raw), SQLITE_OK);
    database_.reset(raw);
    auto done = make(raw);
    ASSERT_TRUE(done) << done.error().what;
  }

  virtual Result<void> make(sqlite3* database) {
    auto done = create_schema(database);
    return done ? create_indices(database) : done;
  }

  std::string one(const std::string& sql) {
    auto query = Statement::prepare(database_.get(), sql);
    if (!query) return query.error().what;
    auto row = query->step();
    if (!row) return row.error().what;
    return *row ? std::string(query->text(0)) : "(no row)";
  }

  std::string columns(const std::string& table) {
    return one("SELECT group_concat(name, ' ') FROM pragma_table_info('" + table + "')");
  }

  SqliteHandle database_;
};

// Its one index is that by which v_event finds the trigger of a stack, and no file of anyone may be like that.
class ReusedSchemaTest : public SchemaTest {
 protected:
  Result<void> make(sqlite3* database) override { return create_reused_schema(database); }
};

TEST_F(ReusedSchemaTest, EventsAreGoneThroughAsTheyAre) {
  EXPECT_EQ(one("SELECT group_concat(name) FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"),
            "trigger_of_stack_stack");
  EXPECT_EQ(one("SELECT count(*) FROM v_event"), "0");
  auto plan = Statement::prepare(
      database_.get(), "EXPLAIN QUERY PLAN SELECT kind, tid, \"trigger\" FROM v_event WHERE kind = 'read' AND a0 = 1");
  ASSERT_TRUE(plan);
  ASSERT_TRUE(plan->step());
  EXPECT_EQ(plan->text(3), "SCAN event");
  const auto checked = check_schema(database_.get(), "file");
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().what.find("lacks the index"), std::string::npos) << checked.error().what;
}

TEST_F(SchemaTest, ColumnsAreTheContracts) {
  const std::map<std::string, std::string> expected{
      {"meta", "key value"},
      {"process",
       "id pid ns_pid parent_id start_ns end_ns exit_code exit_signal uses_io_uring space origin "
       "cgroup_id cgroup container"},
      {"image", "id process_id ts_ns path argv name names"},
      {"thread", "id process_id tid ns_tid name start_ns end_ns left_ns"},
      {"thread_name", "thread_id ts_ns name"},
      {"thread_user", "thread_id ts_ns uid"},
      {"module", "id path build_id class"},
      {"frame", "id module_id rel_pc function function_offset file line inlined origin"},
      {"frame_lock", "frame_id address"},
      {"stack", "id depth ended trigger_frame_id trigger_fallback folded managed"},
      {"stack_frame", "stack_id position inline_depth frame_id space"},
      {"kind", "id name class abi nr"},
      {"kind_argument", "kind_id arg name type"},
      {"kind_result", "kind_id type"},
      {"event", "id ts_ns dur_ns how thread_id image_id kind_id result stack_id a0 a1 a2 a3 a4 a5 object_id"},
      {"event_string", "event_id arg string_id late source"},
      {"string", "id value"},
      {"event_content", "event_id arg holds source content_id late cut"},
      {"event_descriptor", "event_id arg place fd wants string_id late"},
      {"event_buffers", "event_id arg parts bytes"},
      {"held_descriptor", "process_id fd string_id event_id until_ns until"},
      {"content", "id value"},
      {"futex_wait",
       "event_id address op expected timeout_ns words words_at_stop key words_from words_at_stop_from asleep "
       "strangers futexes handlers open_to_others"},
      {"futex_wake", "event_id address count key"},
      {"signal",
       "event_id number code result blocked sender_pid sender_tid sender receiver_pid receiver_tid receiver info_pid "
       "info_uid info_status info_value info_address info_band info_fd info_timer info_overrun info_syscall handler "
       "handler_frame_id"},
      {"cell", "kind_id trigger_frame_id events errors total_ns open first_event_id"},
      {"latency", "kind_id up_to_ns events"},
      {"error_cell", "kind_id errno trigger_frame_id events first_event_id"},
      {"cell_latency", "kind_id trigger_frame_id up_to_ns events"},
      {"thread_total", "thread_id events errors total_ns wait_ns gaps gap_ns"},
      {"object", "id name kind"},
      {"program_total", "thread_id image_id events errors total_ns wait_ns"},
      {"object_total",
       "kind_id process_id image_id trigger_frame_id folder_id string_id part errno events total_ns bytes changes "
       "last_event_id space runtime_frame_id"},
      {"gap", "thread_id ts_ns dur_ns since until before_event_id after_event_id doubtful"},
      {"gap_total",
       "since until before_kind_id before_stack_id after_kind_id after_stack_id gaps total_ns longest_ns ts_ns "
       "thread_id "
       "before_event_id after_event_id"},
      {"stack_end", "ended stacks events"},
      {"guessed_stack", "stack_id events"},
      {"notable_event", "list event_id"},
      {"trigger_of_stack", "stack_id frame_id"},
      {"verify", "event_id equal uscope_depth oracle_depth first_difference"},
      {"loss", "ts_ns until_ns cause process_id count"},
      {"unwind_table", "id path build_id state rows rules bytes trouble"},
      {"thread_look",
       "thread_id ts_ns state asleep stop_signal tracer_pid tracer kind_id a0 a1 a2 a3 a4 a5 timed caught by_timer "
       "parent_pid"},
      {"waited_descriptor", "thread_id fd via_fd wants bytes parts"},
      {"waited_process", "thread_id pid pgid what"},
      {"resource",
       "process_id pid process fd type access dev ino peer queued room listening nonblocking name ts_ns at"},
      {"held_lock", "id class mode dev ino first last pid process_id waiting gone"},
      {"monitor_wait", "thread_id what object class owner_tid java_thread"},
      {"look_trouble", "process_id what"},
      {"errno_name", "number name"},
      {"v_event",
       "id ts_ns dur_ns how pid tid uid process thread kind class result errno a0 a1 a2 a3 a4 a5 object object_kind "
       "stack_id depth ended "
       "trigger trigger_module folded cgroup container"},
      {"v_argument", "event_id arg name type value text"},
      {"dual_space", "kind class function module events errors total_ns open"}};
  for (const auto& [table, names] : expected) EXPECT_EQ(columns(table), names) << table;
  EXPECT_EQ(one("SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"),
            std::to_string(expected.size()));
}

TEST_F(SchemaTest, EveryColumnIsDocumented) {
  std::ifstream file(std::string(paths::kSourceFolder) + "/docs/schema.md");
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty());
  auto query = Statement::prepare(database_.get(),
                                  "SELECT s.name, c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c "
                                  "WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'sqlite_%'");
  ASSERT_TRUE(query);
  int count = 0;
  for (; *query->step(); count++) {
    const std::string row = "| " + std::string(query->text(0)) + " | " + std::string(query->text(1)) + " |";
    EXPECT_NE(text.str().find(row), std::string::npos) << row;
  }
  EXPECT_GT(count, 100);
}

TEST_F(SchemaTest, VersionsAreSet) {
  EXPECT_EQ(one("PRAGMA user_version"), std::to_string(kSchemaVersion));
  EXPECT_EQ(one("PRAGMA application_id"), std::to_string(0x75736370));
}

TEST_F(SchemaTest, ErrorNumbersHaveNames) {
  EXPECT_EQ(one("SELECT name FROM errno_name WHERE number = 2"), "ENOENT");
  EXPECT_EQ(one("SELECT name FROM errno_name WHERE number = 11"), "EAGAIN");
  EXPECT_EQ(one("SELECT name FROM errno_name WHERE number = 512"), "ERESTARTSYS");
  EXPECT_EQ(one("SELECT count(*) FROM errno_name WHERE number IN (0, 41, 4095)"), "0");
}

TEST_F(SchemaTest, TheProcessOfAnEventIsItsImagesName) {
  ASSERT_TRUE(execute(database_.get(),
                      "INSERT INTO process(id, uses_io_uring) VALUES(1, 0); INSERT INTO thread(id) VALUES(1);"
                      "INSERT INTO kind VALUES(1, 'read', 'syscall', 'x86_64', 0);"
                      "INSERT INTO image VALUES(1, 1, 0, '/usr/bin/mawk', '[]', 'awk', '[\"awk\"]');"
                      "INSERT INTO event VALUES(1, 1, 1, 'returned', 1, 1, 1, 0, NULL, 0, 0, 0, 0, 0, 0, NULL)"));
  EXPECT_EQ(one("SELECT process FROM v_event"), "awk");
}

}  // namespace
}  // namespace uscope::store
