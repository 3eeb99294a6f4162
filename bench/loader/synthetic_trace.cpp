// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "synthetic_trace.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "store/db/database.h"
#include "store/db/statement.h"
#include "tests/support/frame_word.h"
#include "trace/raw_writer.h"

namespace uscope::store {
namespace {

constexpr std::uint32_t kCpus = 4;
constexpr std::uint32_t kFunctions = 20'000;
constexpr std::uint32_t kExecutable = 2;
constexpr std::uint32_t kTriggerAt = 2;  // position of the executable's innermost frame

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ value >> 31) * 0x9e3779b97f4a7c15ULL;
  return value ^ value >> 29;
}

// 0 … count - 1; the first ones most often, unless `even`.
std::uint32_t choose(std::uint64_t random, std::uint32_t count, bool even) {
  const double share = static_cast<double>(random % 1'000'003) / 1'000'003;
  return static_cast<std::uint32_t>((even ? share : share * share) * count);
}

std::uint32_t depth_of(const Shape& shape, std::uint32_t stack) {
  return std::max<std::uint32_t>(kTriggerAt + 1,
                                 shape.frames / 2 + static_cast<std::uint32_t>(mix(stack) % shape.frames));
}

// The function at a position of a stack; those at kTriggerAt are the triggers.
std::uint32_t function_of(std::uint32_t stack, std::uint32_t position) {
  if (position == kTriggerAt) return stack % kTriggers;
  return kTriggers + static_cast<std::uint32_t>(mix(stack * 64ULL + position) % kFunctions);
}

std::string name_of(std::uint32_t function) {
  return "function_" + std::to_string(function);
}

std::uint64_t frame_of(std::uint32_t stack, std::uint32_t position) {
  const std::uint32_t function = function_of(stack, position);
  const std::uint32_t file = function < kTriggers ? kExecutable : kExecutable + 1 + function % 10;
  return test::frame_word(file, function, false);
}

// What the thread has open, if it is no server.
constexpr std::array<std::pair<int, std::string_view>, 4> kDescriptors{
    {{USC_FD_CWD, "/srv/work"}, {0, "/srv/work/from"}, {1, "/srv/work/to"}, {USC_FD_END, ""}}};

// Returns how many records there are, all of processor 0.
std::uint32_t write_definitions(trace::RawWriter& writer, const Shape& shape) {
  std::uint32_t seq = 0;
  const bool is_server = shape.calls == Calls::kServer;
  for (std::uint32_t serial = 1; serial <= (is_server ? shape.threads : 1); serial++) {
    usc_task task{};
    task.head = {sizeof(task), USC_RECORD_TASK, 0, seq++, serial, kTraceStart};
    task.process = 1 + (serial - 1) % kProcesses;
    task.pid = 1000 + task.process;
    task.tid = 1000 + serial;
    task.start_ns = kTraceStart;
    task.flags = serial <= kProcesses ? USC_TASK_PROCESS : 0;
    std::strcpy(task.name, "server");
    if (!is_server) task.flags |= USC_TASK_ATTACHED | USC_TASK_SAME_FILES | USC_TASK_SAME_FS;
    check(writer.append(task.head));
  }
  usc_exec exec{};
  exec.head = {0, 0, 0, seq++, 1, kTraceStart};
  exec.process = exec.image = 1;
  exec.exe_file = kExecutable;
  exec.path_bytes = 15;
  check(writer.append(trace::RecordBuilder<usc_exec>(exec).add(std::string_view("/usr/bin/server")).head()));
  if (!is_server)
    for (const auto& [fd, target] : kDescriptors) {
      usc_fd descriptor{};
      descriptor.head = {0, 0, 0, seq++, 1, kTraceStart};
      descriptor.process = 1;
      descriptor.fd = fd;
      descriptor.target_bytes = static_cast<__u16>(target.size());
      check(writer.append(trace::RecordBuilder<usc_fd>(descriptor).add(target).head()));
    }
  for (std::uint32_t number = 1; number <= shape.stacks; number++) {
    const std::uint32_t depth = depth_of(shape, number);
    usc_stack stack{};
    stack.head = {0, 0, 0, seq++, 1, kTraceStart};
    stack.stack = number;
    stack.depth = static_cast<__u16>(depth);
    std::vector<std::uint64_t> frames;
    for (std::uint32_t i = 0; i < depth; i++) frames.push_back(frame_of(number, i));
    check(writer.append(trace::RecordBuilder<usc_stack>(stack).add_values(std::span(std::as_const(frames))).head()));
  }
  return seq;
}

// A call of a trace that is no server's, with its path.
void write_call(trace::RawWriter& writer, const Shape& shape, std::uint64_t number, std::uint32_t& seq) {
  const std::uint64_t random = mix(number + 1 + (shape.seed << 40U));
  const bool is_stat = shape.calls == Calls::kStats;
  usc_event event{};
  event.head = {sizeof(event), USC_RECORD_EVENT, 0, 0, 1, kTraceStart + 1'000'000'000 + number * 2000};
  event.entry_ns = event.head.time - 200 - random % 1000;
  event.image = 1;
  event.stack = 1 + choose(random >> 8, shape.stacks, shape.even);
  event.how = USC_HOW_RETURNED;
  event.kind = is_stat ? 262 : static_cast<__u32>(number % 2);  // newfstatat, read, write
  if (is_stat) {
    const auto name = static_cast<std::uint32_t>(random % kPaths);
    const std::string path = "source/folder_" + std::to_string(name / 100) + "/file_" + std::to_string(name) + ".cpp";
    event.args[0] = static_cast<__u64>(AT_FDCWD);
    event.args[1] = 0x7ffc'0000'1000 + name;
    event.args[2] = 0x7ffc'0000'0000;
    event.result = name % 3 == 0 ? -ENOENT : 0;
    usc_string string{};
    string.head = {0, 0, 0, seq++, 1, event.entry_ns};
    string.entry_ns = event.entry_ns;
    string.bytes = static_cast<__u16>(path.size());
    string.arg = 1;
    string.kind = USC_STRING_TEXT;
    check(writer.append(trace::RecordBuilder<usc_string>(string).add(path).head()));
  } else {
    event.args[0] = number % 2;
    event.args[1] = 0x7ffc'0000'0000;
    event.args[2] = 512;
    event.result = 512;
  }
  event.head.seq = seq++;
  check(writer.append(event.head));
}

// One prepared statement of a bare loop.
class Insert {
 public:
  Insert(const DatabaseWriter& writer, std::string_view sql) : statement_(writer.prepare(sql)) {
    if (!statement_) check(statement_.error());
    row_ = statement_->handle();
  }
  void number(int column, std::int64_t value) { sqlite3_bind_int64(row_, column, value); }
  void text(int column, const std::string& value) {
    sqlite3_bind_text(row_, column, value.c_str(), static_cast<int>(value.size()), SQLITE_STATIC);
  }
  void null(int column) { sqlite3_bind_null(row_, column); }
  void run() {
    if (sqlite3_step(row_) != SQLITE_DONE) check(statement_->failure());
    sqlite3_reset(row_);
  }

 private:
  Result<Statement> statement_;
  sqlite3_stmt* row_ = nullptr;
};

void insert_stacks(const DatabaseWriter& writer, const Shape& shape) {
  Insert frame(writer,
               "INSERT INTO frame(id, module_id, rel_pc, function, function_offset, file, line, inlined) VALUES(?1, 1, "
               "?1, ?2, 0, NULL, NULL, 0)");
  for (std::uint32_t function = 0; function < kTriggers + kFunctions; function++) {
    const std::string name = name_of(function);
    frame.number(1, function + 1);
    frame.text(2, name);
    frame.run();
  }
  Insert stack(writer,
               "INSERT INTO stack(id, depth, ended, trigger_frame_id, trigger_fallback, folded) VALUES(?1, ?2, 'root', "
               "?3, 0, ?4)");
  Insert stack_frame(writer, "INSERT INTO stack_frame VALUES(?1, ?2, 0, ?3, 'user')");
  for (std::uint32_t number = 1; number <= shape.stacks; number++) {
    const std::uint32_t depth = depth_of(shape, number);
    std::string folded;
    for (std::uint32_t i = depth; i-- > 0;) folded += name_of(function_of(number, i)) + (i ? ";" : "");
    stack.number(1, number);
    stack.number(2, depth);
    stack.number(3, function_of(number, kTriggerAt) + 1);
    stack.text(4, folded);
    stack.run();
    for (std::uint32_t i = 0; i < depth; i++) {
      stack_frame.number(1, number);
      stack_frame.number(2, i);
      stack_frame.number(3, function_of(number, i) + 1);
      stack_frame.run();
    }
  }
}

}  // namespace

std::vector<symbolizer::NamedFrame> PlainNamer::name(const symbolizer::ModuleRequest&, std::uint64_t address, bool) {
  return {{name_of(static_cast<std::uint32_t>(address)), 0, "", 0, false}};
}

usc_event event_of(const Shape& shape, std::uint64_t number) {
  const std::uint64_t random = mix(number + 1 + (shape.seed << 40U));
  usc_event event{};
  event.head.size = sizeof(event);
  event.head.type = USC_RECORD_EVENT;
  event.head.cpu = static_cast<__u16>(number % kCpus);
  event.head.task = 1 + static_cast<__u32>(random % shape.threads);
  event.head.time = kTraceStart + 1'000'000'000 + number * 1000;
  event.entry_ns = event.head.time - (random % 5000 == 0 ? 300'000'000 : random >> 20 & 0x1fffff);
  event.result = random % 50 == 0 ? -2 : static_cast<std::int64_t>(random & 0xfff);
  for (std::uint32_t arg = 0; arg < 6; arg++) event.args[arg] = arg < 3 ? mix(random + arg) >> (arg * 20 + 8) : 0;
  event.stack = 1 + choose(random >> 8, shape.stacks, shape.even);
  event.image = 1;
  event.kind = choose(mix(event.stack), kKinds, false);
  event.how = random % 100'000 == 7 ? USC_HOW_OPEN : USC_HOW_RETURNED;
  return event;
}

void write_raw(const std::filesystem::path& path, const Shape& shape) {
  usc_raw_header header{};
  header.start_ns = kTraceStart;
  header.cpus = kCpus;
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) check(errno_error("cannot create " + path.string(), errno));
  auto writer = trace::RawWriter::create(std::move(file), path.string(), header);
  if (!writer) check(writer.error());
  std::vector<std::uint32_t> seq(kCpus);
  seq[0] = write_definitions(*writer, shape);
  for (std::uint64_t i = 0; i < shape.events; i++) {
    if (shape.calls != Calls::kServer) {
      write_call(*writer, shape, i, seq[0]);
      continue;
    }
    usc_event event = event_of(shape, i);
    event.head.seq = seq[event.head.cpu]++;
    check(writer->append(event.head));
  }
  for (std::uint16_t cpu = 0; cpu < kCpus; cpu++) {
    usc_cpu_total total{};
    total.head = {sizeof(total), USC_RECORD_CPU_TOTAL, cpu, 0, 0, kTraceStart};
    total.records = seq[cpu];
    check(writer->append(total.head));
  }
  check(writer->flush());
}

void insert_bare(const std::filesystem::path& path, const Shape& shape) {
  auto writer = DatabaseWriter::create(path);
  if (!writer) check(writer.error());
  {
    insert_stacks(*writer, shape);
    Insert insert(*writer,
                  "INSERT INTO event VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, NULL)");
    const std::string returned = "returned";
    const std::string open = "open";
    for (std::uint64_t i = 0; i < shape.events; i++) {
      const usc_event event = event_of(shape, i);
      insert.number(1, static_cast<std::int64_t>(i + 1));
      insert.number(2, static_cast<std::int64_t>(event.entry_ns));
      insert.number(3, static_cast<std::int64_t>(event.head.time - event.entry_ns));
      insert.text(4, event.how == USC_HOW_OPEN ? open : returned);
      insert.number(5, event.head.task);
      insert.number(6, event.image);
      insert.number(7, event.kind + 1);
      insert.number(8, event.result);
      insert.number(9, event.stack);
      for (int arg = 0; arg < 6; arg++) insert.number(10 + arg, static_cast<std::int64_t>(event.args[arg]));
      insert.run();
    }
  }
  check(writer->commit());
}

void check(const Result<void>& result) {
  if (result) return;
  std::fprintf(stderr, "loader_bench: %s\n", result.error().what.c_str());
  std::exit(1);
}

}  // namespace uscope::store
