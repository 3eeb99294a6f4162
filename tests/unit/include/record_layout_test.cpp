// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The layout of every record, and every number that a trace file carries, against
// tests/golden/record_layout_v<ABI>.txt. The file's name carries USC_RECORD_ABI: a layout that changes while the number
// does not fails here. After moving the number: USCOPE_UPDATE_GOLDEN=1 unit_include --gtest_filter='RecordLayout.*'
// writes the new file.
#include "uscope/record.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"

namespace uscope::include {
namespace {

struct Field {
  const char* name;
  std::size_t offset;
  std::size_t size;  // 0: a flexible array
};

struct Layout {
  const char* name;
  std::size_t size;
  std::vector<Field> fields;
};

#define FIELD(type, field) \
  { #field, offsetof(type, field), sizeof(type::field) }
#define TAIL(type, field) \
  { #field, offsetof(type, field), 0 }

std::vector<Layout> head_layouts() {
  return {
      {"usc_raw_header",
       sizeof(usc_raw_header),
       {FIELD(usc_raw_header, magic), FIELD(usc_raw_header, header_size), FIELD(usc_raw_header, record_abi),
        FIELD(usc_raw_header, start_ns), FIELD(usc_raw_header, utc_offset_ns), FIELD(usc_raw_header, cpus),
        FIELD(usc_raw_header, isa), FIELD(usc_raw_header, page_bytes), FIELD(usc_raw_header, pad),
        FIELD(usc_raw_header, boot_id), FIELD(usc_raw_header, kernel)}},
      {"usc_record",
       sizeof(usc_record),
       {FIELD(usc_record, size), FIELD(usc_record, type), FIELD(usc_record, cpu), FIELD(usc_record, seq),
        FIELD(usc_record, task), FIELD(usc_record, pad), FIELD(usc_record, time)}},
      {"usc_event",
       sizeof(usc_event),
       {FIELD(usc_event, head), FIELD(usc_event, entry_ns), FIELD(usc_event, result), FIELD(usc_event, args),
        FIELD(usc_event, stack), FIELD(usc_event, image), FIELD(usc_event, kind), FIELD(usc_event, how),
        FIELD(usc_event, abi), FIELD(usc_event, flags), FIELD(usc_event, source)}},
      {"usc_stack",
       sizeof(usc_stack),
       {FIELD(usc_stack, head), FIELD(usc_stack, stack), FIELD(usc_stack, mm), FIELD(usc_stack, depth),
        FIELD(usc_stack, ended), FIELD(usc_stack, deferred), FIELD(usc_stack, pad), TAIL(usc_stack, frames)}},
  };
}

std::vector<Layout> task_layouts() {
  return {
      {"usc_task",
       sizeof(usc_task),
       {FIELD(usc_task, head), FIELD(usc_task, process), FIELD(usc_task, parent_task), FIELD(usc_task, pid),
        FIELD(usc_task, tid), FIELD(usc_task, ns_pid), FIELD(usc_task, ns_tid), FIELD(usc_task, mm),
        FIELD(usc_task, parent_mm), FIELD(usc_task, start_ns), FIELD(usc_task, flags), FIELD(usc_task, image),
        FIELD(usc_task, parent_pid), FIELD(usc_task, uid), FIELD(usc_task, cgroup), FIELD(usc_task, name)}},
      {"usc_cgroup",
       sizeof(usc_cgroup),
       {FIELD(usc_cgroup, head), FIELD(usc_cgroup, cgroup), FIELD(usc_cgroup, path_bytes), FIELD(usc_cgroup, truncated),
        TAIL(usc_cgroup, path)}},
      {"usc_exec",
       sizeof(usc_exec),
       {FIELD(usc_exec, head), FIELD(usc_exec, process), FIELD(usc_exec, image), FIELD(usc_exec, mm),
        FIELD(usc_exec, exe_file), FIELD(usc_exec, old_tid), FIELD(usc_exec, tid), FIELD(usc_exec, path_bytes),
        FIELD(usc_exec, argv_bytes), FIELD(usc_exec, argv_total), FIELD(usc_exec, pad), FIELD(usc_exec, cgroup),
        FIELD(usc_exec, name), TAIL(usc_exec, data)}},
      {"usc_task_exit",
       sizeof(usc_task_exit),
       {FIELD(usc_task_exit, head), FIELD(usc_task_exit, process), FIELD(usc_task_exit, code),
        FIELD(usc_task_exit, flags), FIELD(usc_task_exit, pad)}},
      {"usc_task_name", sizeof(usc_task_name), {FIELD(usc_task_name, head), FIELD(usc_task_name, name)}},
      {"usc_task_user",
       sizeof(usc_task_user),
       {FIELD(usc_task_user, head), FIELD(usc_task_user, uid), FIELD(usc_task_user, pad)}},
      {"usc_guise",
       sizeof(usc_guise),
       {FIELD(usc_guise, head), FIELD(usc_guise, guise), FIELD(usc_guise, image), FIELD(usc_guise, uid),
        FIELD(usc_guise, pad), FIELD(usc_guise, name)}},
      {"usc_map",
       sizeof(usc_map),
       {FIELD(usc_map, head), FIELD(usc_map, mm), FIELD(usc_map, file), FIELD(usc_map, start), FIELD(usc_map, end),
        FIELD(usc_map, offset)}},
      {"usc_blind_map",
       sizeof(usc_blind_map),
       {FIELD(usc_blind_map, head), FIELD(usc_blind_map, mm), FIELD(usc_blind_map, file), FIELD(usc_blind_map, start),
        FIELD(usc_blind_map, end), FIELD(usc_blind_map, offset)}},
      {"usc_code_doubt",
       sizeof(usc_code_doubt),
       {FIELD(usc_code_doubt, head), FIELD(usc_code_doubt, reason), FIELD(usc_code_doubt, pid),
        FIELD(usc_code_doubt, other), FIELD(usc_code_doubt, pad), FIELD(usc_code_doubt, start),
        FIELD(usc_code_doubt, end), FIELD(usc_code_doubt, pc), FIELD(usc_code_doubt, path)}},
      {"usc_unmap",
       sizeof(usc_unmap),
       {FIELD(usc_unmap, head), FIELD(usc_unmap, mm), FIELD(usc_unmap, pad), FIELD(usc_unmap, start),
        FIELD(usc_unmap, end)}},
  };
}

std::vector<Layout> file_layouts() {
  return {
      {"usc_file_key",
       sizeof(usc_file_key),
       {FIELD(usc_file_key, dev), FIELD(usc_file_key, ino), FIELD(usc_file_key, size), FIELD(usc_file_key, ctime_sec),
        FIELD(usc_file_key, ctime_nsec), FIELD(usc_file_key, generation)}},
      {"usc_file",
       sizeof(usc_file),
       {FIELD(usc_file, head), FIELD(usc_file, file), FIELD(usc_file, pid), FIELD(usc_file, key),
        FIELD(usc_file, start), FIELD(usc_file, end), FIELD(usc_file, offset), FIELD(usc_file, path_bytes),
        FIELD(usc_file, truncated), FIELD(usc_file, leased), FIELD(usc_file, links), TAIL(usc_file, path)}},
      {"usc_segment",
       sizeof(usc_segment),
       {FIELD(usc_segment, offset), FIELD(usc_segment, size), FIELD(usc_segment, address)}},
      {"usc_file_info",
       sizeof(usc_file_info),
       {FIELD(usc_file_info, head), FIELD(usc_file_info, file), FIELD(usc_file_info, classes),
        FIELD(usc_file_info, rows), FIELD(usc_file_info, row_bytes), FIELD(usc_file_info, rules),
        FIELD(usc_file_info, segments), FIELD(usc_file_info, build_id_bytes), FIELD(usc_file_info, path_bytes),
        FIELD(usc_file_info, error), FIELD(usc_file_info, trouble_bytes), FIELD(usc_file_info, state),
        FIELD(usc_file_info, pad), TAIL(usc_file_info, data)}},
  };
}

std::vector<Layout> other_layouts() {
  return {
      {"usc_sample",
       sizeof(usc_sample),
       {FIELD(usc_sample, head), FIELD(usc_sample, entry_ns), FIELD(usc_sample, stack), FIELD(usc_sample, mm),
        FIELD(usc_sample, exe_file), FIELD(usc_sample, reason), FIELD(usc_sample, verify), FIELD(usc_sample, bytes),
        FIELD(usc_sample, base), FIELD(usc_sample, pages), FIELD(usc_sample, end_base), FIELD(usc_sample, end_pages),
        FIELD(usc_sample, end_bytes), FIELD(usc_sample, flags), FIELD(usc_sample, same), FIELD(usc_sample, end_same),
        FIELD(usc_sample, pc), FIELD(usc_sample, regs), TAIL(usc_sample, data)}},
      {"usc_verify",
       sizeof(usc_verify),
       {FIELD(usc_verify, head), FIELD(usc_verify, entry_ns), FIELD(usc_verify, stack), FIELD(usc_verify, uscope_depth),
        FIELD(usc_verify, oracle_depth), FIELD(usc_verify, first_difference)}},
      {"usc_loss",
       sizeof(usc_loss),
       {FIELD(usc_loss, head), FIELD(usc_loss, from_ns), FIELD(usc_loss, count), FIELD(usc_loss, cause),
        FIELD(usc_loss, process)}},
      {"usc_meta", sizeof(usc_meta), {FIELD(usc_meta, head), TAIL(usc_meta, data)}},
      {"usc_cpu_total",
       sizeof(usc_cpu_total),
       {FIELD(usc_cpu_total, head), FIELD(usc_cpu_total, records), FIELD(usc_cpu_total, first)}},
      {"usc_io_uring",
       sizeof(usc_io_uring),
       {FIELD(usc_io_uring, head), FIELD(usc_io_uring, process), FIELD(usc_io_uring, not_known)}},
      {"usc_jit_name",
       sizeof(usc_jit_name),
       {FIELD(usc_jit_name, head), FIELD(usc_jit_name, mm), FIELD(usc_jit_name, name_bytes), FIELD(usc_jit_name, pad),
        FIELD(usc_jit_name, address), FIELD(usc_jit_name, start), FIELD(usc_jit_name, size), TAIL(usc_jit_name, name)}},
      {"usc_logged",
       sizeof(usc_logged),
       {FIELD(usc_logged, head), FIELD(usc_logged, kind), FIELD(usc_logged, stack), FIELD(usc_logged, image),
        FIELD(usc_logged, values), FIELD(usc_logged, source), FIELD(usc_logged, places), FIELD(usc_logged, value),
        TAIL(usc_logged, place)}},
      {"usc_query_key",
       sizeof(usc_query_key),
       {FIELD(usc_query_key, word), FIELD(usc_query_key, nulls), FIELD(usc_query_key, pad)}},
      {"usc_query_sum",
       sizeof(usc_query_sum),
       {FIELD(usc_query_sum, count), FIELD(usc_query_sum, sum), FIELD(usc_query_sum, least),
        FIELD(usc_query_sum, greatest)}},
      {"usc_query_row",
       sizeof(usc_query_row),
       {FIELD(usc_query_row, events), FIELD(usc_query_row, key), FIELD(usc_query_row, sum)}},
      {"usc_partial",
       sizeof(usc_partial),
       {FIELD(usc_partial, head), FIELD(usc_partial, row), FIELD(usc_partial, turn), FIELD(usc_partial, pad)}},
      {"usc_signal",
       sizeof(usc_signal),
       {FIELD(usc_signal, head), FIELD(usc_signal, stack), FIELD(usc_signal, image), FIELD(usc_signal, code),
        FIELD(usc_signal, mm), FIELD(usc_signal, sender_pid), FIELD(usc_signal, sender_tid),
        FIELD(usc_signal, receiver_pid), FIELD(usc_signal, receiver_tid), FIELD(usc_signal, info),
        FIELD(usc_signal, handler), FIELD(usc_signal, handler_frame), FIELD(usc_signal, number),
        FIELD(usc_signal, flags), FIELD(usc_signal, result), FIELD(usc_signal, pad), FIELD(usc_signal, sender),
        FIELD(usc_signal, receiver)}},
      {"usc_hit",
       sizeof(usc_hit),
       {FIELD(usc_hit, head), FIELD(usc_hit, entry_ns), FIELD(usc_hit, result), FIELD(usc_hit, args),
        FIELD(usc_hit, stack), FIELD(usc_hit, image), FIELD(usc_hit, kind), FIELD(usc_hit, frames), FIELD(usc_hit, how),
        FIELD(usc_hit, source), FIELD(usc_hit, flags), FIELD(usc_hit, unread), FIELD(usc_hit, pad)}},
      {"usc_kind",
       sizeof(usc_kind),
       {FIELD(usc_kind, head), FIELD(usc_kind, kind), FIELD(usc_kind, text_bytes), FIELD(usc_kind, source),
        FIELD(usc_kind, args), TAIL(usc_kind, text)}},
      {"usc_log_kind",
       sizeof(usc_log_kind),
       {FIELD(usc_log_kind, head), FIELD(usc_log_kind, kind), FIELD(usc_log_kind, name_bytes),
        FIELD(usc_log_kind, source), FIELD(usc_log_kind, pad), TAIL(usc_log_kind, name)}},
      {"usc_kernel_place",
       sizeof(usc_kernel_place),
       {FIELD(usc_kernel_place, head), FIELD(usc_kernel_place, place), FIELD(usc_kernel_place, text_bytes),
        FIELD(usc_kernel_place, pad), TAIL(usc_kernel_place, text)}},
      {"usc_string",
       sizeof(usc_string),
       {FIELD(usc_string, head), FIELD(usc_string, entry_ns), FIELD(usc_string, bytes), FIELD(usc_string, flags),
        FIELD(usc_string, arg), FIELD(usc_string, kind), TAIL(usc_string, text)}},
      {"usc_vector",
       sizeof(usc_vector),
       {FIELD(usc_vector, count), FIELD(usc_vector, control), FIELD(usc_vector, flags), FIELD(usc_vector, pad),
        FIELD(usc_vector, length)}},
      {"usc_fd",
       sizeof(usc_fd),
       {FIELD(usc_fd, head), FIELD(usc_fd, process), FIELD(usc_fd, fd), FIELD(usc_fd, flags),
        FIELD(usc_fd, target_bytes), FIELD(usc_fd, pad), TAIL(usc_fd, target)}},
      {"usc_futex",
       sizeof(usc_futex),
       {FIELD(usc_futex, head), FIELD(usc_futex, entry_ns), FIELD(usc_futex, address), FIELD(usc_futex, timeout),
        FIELD(usc_futex, dev), FIELD(usc_futex, ino), FIELD(usc_futex, offset), FIELD(usc_futex, words_from),
        FIELD(usc_futex, op), FIELD(usc_futex, expected), FIELD(usc_futex, mm), FIELD(usc_futex, untraced_sharers),
        FIELD(usc_futex, futexes), FIELD(usc_futex, bytes), FIELD(usc_futex, key), FIELD(usc_futex, flags),
        TAIL(usc_futex, words)}},
      {"usc_look",
       sizeof(usc_look),
       {FIELD(usc_look, head), FIELD(usc_look, look), FIELD(usc_look, end), FIELD(usc_look, records)}},
      {"usc_thread_look",
       sizeof(usc_thread_look),
       {FIELD(usc_thread_look, head), FIELD(usc_thread_look, look), FIELD(usc_thread_look, tracer_pid),
        FIELD(usc_thread_look, args), FIELD(usc_thread_look, nr), FIELD(usc_thread_look, abi),
        FIELD(usc_thread_look, in_call), FIELD(usc_thread_look, state), FIELD(usc_thread_look, asleep),
        FIELD(usc_thread_look, timed), FIELD(usc_thread_look, stop_signal), FIELD(usc_thread_look, has_caught),
        FIELD(usc_thread_look, by_timer), FIELD(usc_thread_look, parent), FIELD(usc_thread_look, tracer),
        FIELD(usc_thread_look, caught)}},
      {"usc_waited",
       sizeof(usc_waited),
       {FIELD(usc_waited, head), FIELD(usc_waited, look), FIELD(usc_waited, fd), FIELD(usc_waited, via_fd),
        FIELD(usc_waited, pid), FIELD(usc_waited, pgid), FIELD(usc_waited, what), FIELD(usc_waited, wants),
        FIELD(usc_waited, pad)}},
      {"usc_resource",
       sizeof(usc_resource),
       {FIELD(usc_resource, head), FIELD(usc_resource, look), FIELD(usc_resource, process), FIELD(usc_resource, pid),
        FIELD(usc_resource, fd), FIELD(usc_resource, dev), FIELD(usc_resource, ino), FIELD(usc_resource, peer),
        FIELD(usc_resource, queued), FIELD(usc_resource, room), FIELD(usc_resource, type), FIELD(usc_resource, access),
        FIELD(usc_resource, flags), FIELD(usc_resource, at), FIELD(usc_resource, name_bytes), FIELD(usc_resource, pad),
        FIELD(usc_resource, comm), TAIL(usc_resource, name)}},
      {"usc_held_lock",
       sizeof(usc_held_lock),
       {FIELD(usc_held_lock, head), FIELD(usc_held_lock, look), FIELD(usc_held_lock, id), FIELD(usc_held_lock, pid),
        FIELD(usc_held_lock, process), FIELD(usc_held_lock, dev), FIELD(usc_held_lock, ino),
        FIELD(usc_held_lock, first), FIELD(usc_held_lock, last), FIELD(usc_held_lock, kind), FIELD(usc_held_lock, mode),
        FIELD(usc_held_lock, flags), FIELD(usc_held_lock, pad)}},
      {"usc_monitor",
       sizeof(usc_monitor),
       {FIELD(usc_monitor, head), FIELD(usc_monitor, look), FIELD(usc_monitor, owner_tid), FIELD(usc_monitor, object),
        FIELD(usc_monitor, what), FIELD(usc_monitor, pad), FIELD(usc_monitor, class_bytes),
        FIELD(usc_monitor, thread_bytes), FIELD(usc_monitor, pad_2), TAIL(usc_monitor, text)}},
      {"usc_look_trouble",
       sizeof(usc_look_trouble),
       {FIELD(usc_look_trouble, head), FIELD(usc_look_trouble, look), FIELD(usc_look_trouble, process),
        FIELD(usc_look_trouble, text_bytes), FIELD(usc_look_trouble, pad), TAIL(usc_look_trouble, text)}},
  };
}

std::vector<Layout> layouts() {
  std::vector<Layout> all = head_layouts();
  for (const auto& part : {task_layouts(), file_layouts(), other_layouts()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

#define LINE(value) out << #value << ' ' << static_cast<unsigned long long>(value) << '\n'

void describe_numbers(std::ostream& out) {
#define USC_X(name, number, text, type) \
  out << "record " << text << ' ' << USC_RECORD_##name << ' ' << #type << ' ' << sizeof(type) << '\n';
#include "uscope/lists/record_type.def"
#undef USC_X
#define USC_X(name, text, meaning) out << "how " << text << ' ' << USC_HOW_##name << '\n';
#include "uscope/lists/how.def"
#undef USC_X
#define USC_X(name, text, unnamed, meaning) out << "source " << text << ' ' << USC_SOURCE_##name << '\n';
#include "uscope/lists/source.def"
#undef USC_X
#define USC_X(name, number, text, meaning, numbered, missing) out << "loss " << text << ' ' << USC_LOSS_##name << '\n';
#include "uscope/lists/loss.def"
#undef USC_X
#define USC_X(name, text, meaning) out << "broken " << text << ' ' << USC_BROKEN_##name << '\n';
#include "uscope/lists/unwind_error.def"
#undef USC_X
}

void describe_constants(std::ostream& out) {
  LINE(USC_RECORD_ABI);
  LINE(USC_RAW_MAGIC);
  LINE(USC_CPU_USER);
  LINE(USC_STACK_USER);
  LINE(usc_frame_in_file(0x1234, 0x567, 0, 1));
  LINE(usc_frame_in_file(0x1234, 0x567, 0, 0));
  LINE(usc_frame_in_memory(0x1234, 1));
  LINE(usc_frame_in_memory(0x1234, 0));
  LINE(usc_frame_in_code(0x1234, 0x567, 1));
  LINE(usc_frame_in_code(0x1234, 0x567, 0));
#define USC_X(name, text) LINE(USC_ISA_##name);
#include "uscope/lists/isa.def"
#undef USC_X
  LINE(USC_FILE_NONE);
  LINE(USC_FILE_VDSO);
  LINE(USC_FILE_FIRST);
#define USC_X(name, text, meaning) LINE(USC_ABI_##name);
#include "uscope/lists/abi.def"
#undef USC_X
  LINE(USC_EVENT_RESTARTED);
  LINE(USC_EVENT_NO_RESULT);
#define USC_X(name, text, meaning) LINE(USC_ENDED_##name);
#include "uscope/lists/ended.def"
#undef USC_X
  LINE(USC_ENDED_BROKEN);
  LINE(USC_TASK_PROCESS);
  LINE(USC_TASK_LAUNCHED);
  LINE(USC_TASK_ATTACHED);
  LINE(USC_TASK_EXEC_TID);
  LINE(USC_TASK_FORKED);
  LINE(USC_TASK_SAME_FILES);
  LINE(USC_TASK_SAME_FS);
  LINE(USC_TASK_SUPERVISED);
  LINE(USC_TASK_EXECUTED);
  LINE(USC_TASK_OWN_TID);
  LINE(USC_TASK_UNMAPPED);
  LINE(USC_EXIT_GROUP_DEAD);
  LINE(USC_CLASS_APP);
  LINE(USC_CLASS_EXCLUDED);
#define USC_X(name, text, counted, meaning) LINE(USC_DEFER_##name);
#include "uscope/lists/defer_reason.def"
#undef USC_X
#define USC_X(name, text, letters, at_entry, by_kernel, holds, on_demand, meaning) LINE(USC_STRING_##name);
#include "uscope/lists/string_kind.def"
#undef USC_X
  LINE(USC_STRING_LATE);
  LINE(USC_STRING_TRUNCATED);
  LINE(USC_STRING_REDACTED);
  LINE(USC_KIND_NAMED);
  LINE(USC_KIND_NAME_BYTES);
  LINE(USC_FD_CWD);
  LINE(USC_FD_END);
  LINE(USC_FD_CLOEXEC);
  LINE(USC_FUTEX_PRIVATE);
  LINE(USC_FUTEX_SHARED);
  LINE(USC_FUTEX_WAKE);
  LINE(USC_FUTEX_AT_STOP);
  LINE(USC_FUTEX_ASLEEP);
  LINE(USC_FUTEX_ABSOLUTE);
  LINE(USC_FUTEX_HANDLERS);
  LINE(USC_SIGNAL_DELIVERED);
  LINE(USC_SIGNAL_BY_KERNEL);
  LINE(USC_SIGNAL_TO_GROUP);
  LINE(USC_SIGNAL_BLOCKED);
  LINE(USC_SIGNAL_NO_INFO);
  LINE(USC_SIGNAL_KIND_SENT);
#define USC_X(name, text, meaning) LINE(USC_SIGNAL_RESULT_##name);
#include "uscope/lists/signal_result.def"
#undef USC_X
}

std::string describe() {
  std::ostringstream out;
  describe_constants(out);
  describe_numbers(out);
  for (const Layout& layout : layouts()) {
    out << layout.name << ' ' << layout.size << '\n';
    for (const Field& field : layout.fields)
      out << "  " << field.offset << ' ' << field.size << ' ' << field.name << '\n';
  }
  return out.str();
}

std::string golden_path() {
  return std::string(paths::kSourceFolder) + "/tests/golden/record_layout_v" + std::to_string(USC_RECORD_ABI) + ".txt";
}

TEST(RecordLayout, IsTheOneThatItsNumberNames) {
  const std::string now = describe();
  if (std::getenv("USCOPE_UPDATE_GOLDEN")) std::ofstream(golden_path()) << now;
  std::ifstream file(golden_path());
  ASSERT_TRUE(file) << golden_path() << " is missing: USC_RECORD_ABI has moved. Write the file with "
                    << "USCOPE_UPDATE_GOLDEN=1, keep the old ones, and say in docs/adr/0001-records.md what changed.";
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(now, golden.str()) << "The records' layout or numbers changed, and USC_RECORD_ABI did not: trace files "
                                  "written before would be misread. Move USC_RECORD_ABI in include/uscope/record.h.";
}

// Explicitly padded: the fields listed above leave no byte between them or behind them, so the list is also complete.
TEST(RecordLayout, HasNoHiddenPaddingAndNoUnlistedField) {
  for (const Layout& layout : layouts()) {
    std::size_t end = 0;
    for (const Field& field : layout.fields) {
      EXPECT_EQ(field.offset, end) << layout.name << "." << field.name;
      end = field.offset + field.size;
    }
    EXPECT_EQ(end, layout.size) << layout.name;
    EXPECT_EQ(layout.size % 8, 0u) << layout.name;
  }
}

TEST(RecordLayout, EveryRecordTypeIsListedOnceAndStartsWithItsHead) {
  std::set<std::string> listed;
  for (const Layout& layout : layouts()) EXPECT_TRUE(listed.insert(layout.name).second) << layout.name;
  std::set<unsigned> numbers;
#define USC_X(name, number, text, type)                               \
  EXPECT_TRUE(listed.count(#type)) << #type << " is not listed here"; \
  EXPECT_TRUE(numbers.insert(number).second) << #type;                \
  EXPECT_EQ(offsetof(type, head), 0u) << #type;
#include "uscope/lists/record_type.def"
#undef USC_X
  EXPECT_FALSE(numbers.count(0));
}

TEST(RecordLayout, TheMagicReadsAsText) {
  const std::uint64_t magic = USC_RAW_MAGIC;
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(&magic), 8), "USCORAW1");
}

// `ended` is one byte: every reason must fit behind USC_ENDED_BROKEN.
TEST(RecordLayout, EveryEndOfAStackFitsItsByte) {
  EXPECT_LE(static_cast<int>(USC_ENDED_BROKEN) + static_cast<int>(USC_BROKEN_COUNT), 256);
}

}  // namespace
}  // namespace uscope::include
