// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Synthetic raw traces for tests: records with sensible defaults, written as the tracer writes them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tests/unit/trace/new_raw_file.h"
#include "trace/raw_writer.h"
#include "uscope/record.h"

namespace uscope {

inline constexpr std::uint64_t kStart = 1'000'000'000'000;

struct EventSpec {
  std::uint32_t task = 1;
  std::uint64_t entry = kStart;
  std::uint64_t end = kStart + 10;
  std::int64_t result = 0;
  std::uint32_t nr = 39;
  std::uint32_t stack = 0;
  std::uint32_t image = 1;
  std::uint8_t how = USC_HOW_RETURNED;
  std::uint8_t flags = 0;
  std::uint8_t abi = USC_ABI_X86_64;
  std::uint8_t source = USC_SOURCE_SYSCALL;
  std::uint16_t cpu = 0;
  std::uint64_t a0 = 0;
  std::uint64_t a1 = 0;
  std::uint64_t a2 = 0;
};

struct TaskSpec {
  std::uint32_t task = 1;
  std::uint32_t process = 1;
  std::uint32_t parent_task = 0;
  std::uint32_t pid = 100;
  std::uint32_t tid = 100;
  std::uint32_t flags = USC_TASK_PROCESS | USC_TASK_SAME_FILES | USC_TASK_SAME_FS;
  std::uint32_t image = 0;
  std::uint64_t time = kStart;
  std::string name = "app";
  std::uint32_t parent_pid = 0;
  std::uint32_t below = 90;  // its numbers in its pid namespace are so much smaller
};

class RawTrace {
 public:
  explicit RawTrace(const std::filesystem::path& path, std::uint32_t cpus = 2) : seq_(cpus) {
    usc_raw_header header{};
    header.start_ns = kStart;
    header.utc_offset_ns = 77;
    header.cpus = cpus;
    header.isa = USC_ISA_X86_64;
    header.page_bytes = 4096;
    std::iota(std::begin(header.boot_id), std::end(header.boot_id), __u8{0});
    std::strcpy(header.kernel, "6.1.0-test");
    auto writer = trace::RawWriter::create(new_raw_file(path), path, header);
    EXPECT_TRUE(writer) << writer.error().what;
    writer_.emplace(std::move(*writer));
  }

  ~RawTrace() { close(); }
  RawTrace(const RawTrace&) = delete;
  RawTrace& operator=(const RawTrace&) = delete;

  void event(const EventSpec& spec) {
    usc_event event{};
    event.head = head(USC_RECORD_EVENT, spec.cpu, spec.task, spec.end);
    event.entry_ns = spec.entry;
    event.result = spec.result;
    event.args[0] = spec.a0;
    event.args[1] = spec.a1;
    event.args[2] = spec.a2;
    event.args[5] = ~0ULL;
    event.stack = spec.stack;
    event.image = spec.image;
    event.kind = spec.nr;
    event.how = spec.how;
    event.abi = spec.abi;
    event.flags = spec.flags;
    event.source = spec.source;
    put(event);
  }

  void task(const TaskSpec& spec) {
    usc_task task{};
    task.head = head(USC_RECORD_TASK, 0, spec.task, spec.time);
    task.process = spec.process;
    task.parent_task = spec.parent_task;
    task.pid = spec.pid;
    task.tid = spec.tid;
    task.ns_pid = spec.pid - spec.below;
    task.ns_tid = spec.tid - spec.below;
    task.start_ns = spec.time - 5;
    task.flags = spec.flags;
    task.image = spec.image;
    task.parent_pid = spec.parent_pid;
    spec.name.copy(task.name, sizeof(task.name) - 1);
    put(task);
  }

  // `path`: its components, innermost first.
  void cgroup(std::uint64_t number, std::string path, bool truncated = false) {
    usc_cgroup cgroup{};
    cgroup.head = head(USC_RECORD_CGROUP, 0, 0, kStart);
    cgroup.cgroup = number;
    if (!path.empty()) path += '/';
    std::replace(path.begin(), path.end(), '/', '\0');
    cgroup.path_bytes = static_cast<__u32>(path.size());
    cgroup.truncated = truncated ? 1 : 0;
    put(cgroup, path);
  }

  void exec(std::uint32_t task, std::uint32_t process, std::uint32_t image, std::uint32_t exe_file,
            const std::string& path, const std::string& argv, std::uint64_t time = kStart + 1,
            std::uint32_t argv_total = 0) {
    usc_exec exec{};
    exec.head = head(USC_RECORD_EXEC, 0, task, time);
    exec.process = process;
    exec.image = image;
    exec.mm = image;
    exec.exe_file = exe_file;
    exec.tid = exec.old_tid = 100;
    exec.path_bytes = static_cast<__u32>(path.size());
    exec.argv_bytes = static_cast<__u32>(argv.size());
    exec.argv_total = argv_total ? argv_total : exec.argv_bytes;
    path.substr(path.rfind('/') + 1).copy(exec.name, sizeof(exec.name) - 1);
    put(exec, path + argv);
  }

  void exit(std::uint32_t task, std::uint32_t process, std::uint32_t code, std::uint64_t time) {
    usc_task_exit exit{};
    exit.head = head(USC_RECORD_TASK_EXIT, 0, task, time);
    exit.process = process;
    exit.code = code;
    exit.flags = USC_EXIT_GROUP_DEAD;
    put(exit);
  }

  void stack(std::uint32_t id, const std::vector<std::uint64_t>& frames, std::uint8_t ended = USC_ENDED_ROOT,
             std::uint32_t mm = 0, std::uint16_t cpu = 0) {
    usc_stack stack{};
    stack.head = head(USC_RECORD_STACK, cpu, 1, kStart + 2);
    stack.stack = id;
    stack.mm = mm;
    stack.depth = static_cast<__u16>(frames.size());
    stack.ended = ended;
    put(stack, {reinterpret_cast<const char*>(frames.data()), frames.size() * sizeof(frames[0])});
  }

  void string(std::uint32_t task, std::uint64_t entry, std::uint8_t arg, const std::string& text,
              std::uint8_t kind = USC_STRING_TEXT, std::uint16_t flags = 0, std::uint64_t time = 0) {
    usc_string string{};
    string.head = head(USC_RECORD_STRING, 0, task, time ? time : entry);
    string.entry_ns = entry;
    string.bytes = static_cast<__u32>(text.size());
    string.flags = flags;
    string.arg = arg;
    string.kind = kind;
    put(string, text);
  }

  void logged(std::uint32_t task, std::uint64_t time, std::uint32_t kind, const std::vector<std::uint64_t>& values,
              std::uint32_t stack, const std::vector<std::uint32_t>& places, std::uint8_t source = USC_SOURCE_LOGGED) {
    usc_logged record{};
    record.head = head(USC_RECORD_LOGGED, 0, task, time);
    record.kind = kind;
    record.stack = stack;
    record.image = 1;
    record.values = static_cast<__u8>(values.size());
    record.source = source;
    record.places = static_cast<__u16>(places.size());
    std::copy(values.begin(), values.end(), std::begin(record.value));
    put(record, {reinterpret_cast<const char*>(places.data()), places.size() * sizeof(places[0])});
  }

  // Its head, with the time of its end, is put in here, and the number of its kernel frames.
  void hit(std::uint32_t task, std::uint64_t end, usc_hit record, const std::vector<std::uint32_t>& places = {}) {
    record.head = head(USC_RECORD_HIT, 0, task, end);
    record.frames = static_cast<__u16>(places.size());
    put(record, {reinterpret_cast<const char*>(places.data()), places.size() * sizeof(places[0])});
  }

  // `args`: "name:type" each.
  void kind(std::uint8_t source, std::uint32_t number, const std::string& name, const std::vector<std::string>& args) {
    usc_kind record{};
    record.head = head(USC_RECORD_KIND, USC_CPU_USER, 0, kStart);
    record.kind = number;
    record.source = source;
    record.args = static_cast<__u8>(args.size());
    std::string text = name + '\0';
    for (const std::string& argument : args) text += argument + '\0';
    record.text_bytes = static_cast<__u16>(text.size());
    put(record, text);
  }

  // Its head is put in here.
  void signal(std::uint32_t task, std::uint64_t time, usc_signal record) {
    record.head = head(USC_RECORD_SIGNAL, 0, task, time);
    put(record);
  }

  void log_kind(std::uint32_t kind, const std::string& name, std::uint8_t source = USC_SOURCE_LOGGED) {
    usc_log_kind record{};
    record.head = head(USC_RECORD_LOG_KIND, 0, 1, kStart);
    record.kind = kind;
    record.source = source;
    record.name_bytes = static_cast<__u16>(name.size());
    put(record, name);
  }

  void place(std::uint32_t number, const std::string& text) {
    usc_kernel_place record{};
    record.head = head(USC_RECORD_KERNEL_PLACE, 0, 1, kStart);
    record.place = number;
    record.text_bytes = static_cast<__u16>(text.size());
    put(record, text);
  }

  // Its head is put in here; `words` lie at words_from.
  void futex(std::uint32_t task, std::uint64_t time, usc_futex record, const std::string& words = "") {
    record.head = head(USC_RECORD_FUTEX, 0, task, time);
    record.bytes = static_cast<__u16>(words.size());
    put(record, words);
  }

  void descriptor(std::uint32_t process, int fd, const std::string& target, std::uint64_t time, std::uint32_t flags = 0,
                  const std::optional<usc_fd_file>& file = {}) {
    usc_fd record{};
    record.head = head(USC_RECORD_FD, USC_CPU_USER, 0, time);
    record.process = process;
    record.fd = fd;
    record.flags = flags | (file ? USC_FD_FILE : 0U);
    record.target_bytes = static_cast<__u16>(target.size());
    put(record, (file ? std::string(reinterpret_cast<const char*>(&*file), sizeof(*file)) : std::string()) + target);
  }

  // Text at file offset 0x1000, at address 0x401000.
  void file(std::uint32_t serial, const std::string& path, const std::string& build_id = "",
            std::uint32_t classes = 0) {
    usc_file_info info{};
    info.head = head(USC_RECORD_FILE_INFO, USC_CPU_USER, 0, kStart);
    info.file = serial;
    info.classes = classes;
    info.segments = 1;
    info.build_id_bytes = static_cast<__u16>(build_id.size());
    info.path_bytes = static_cast<__u16>(path.size());
    const usc_segment segment{0x1000, 0x1000, 0x401000};
    put(info, std::string(reinterpret_cast<const char*>(&segment), sizeof(segment)) + build_id + path);
  }

  // A file without text, with what became of its unwind data.
  void unwind_data(std::uint32_t serial, const std::string& path, std::uint32_t state, std::uint32_t rows,
                   const std::string& trouble = "") {
    usc_file_info info{};
    info.head = head(USC_RECORD_FILE_INFO, USC_CPU_USER, 0, kStart);
    info.file = serial;
    info.rows = rows;
    info.rules = rows / 10;
    info.row_bytes = rows * 8;
    info.path_bytes = static_cast<__u16>(path.size());
    info.trouble_bytes = static_cast<__u16>(trouble.size());
    info.state = static_cast<__u8>(state);
    put(info, path + trouble);
  }

  void verify(std::uint32_t task, std::uint64_t entry, std::int32_t first_difference) {
    usc_verify verify{};
    verify.head = head(USC_RECORD_VERIFY, 0, task, entry + 1);
    verify.entry_ns = entry;
    verify.uscope_depth = 3;
    verify.oracle_depth = 4;
    verify.first_difference = first_difference;
    put(verify);
  }

  void loss(std::uint32_t cause, std::uint64_t count, std::uint32_t process = 0, std::uint64_t from = kStart + 40,
            std::uint64_t until = kStart + 50) {
    usc_loss loss{};
    loss.head = head(USC_RECORD_LOSS, USC_CPU_USER, 0, until);
    loss.from_ns = from;
    loss.count = count;
    loss.cause = cause;
    loss.process = process;
    put(loss);
  }

  void io_uring(std::uint32_t process, bool known = true) {
    usc_io_uring record{};
    record.head = head(USC_RECORD_IO_URING, 0, 1, kStart + 2);
    record.process = process;
    record.not_known = known ? 0 : 1;
    put(record);
  }

  void jit_name(std::uint32_t mm, std::uint64_t address, std::uint64_t start, std::uint64_t size,
                const std::string& text) {
    usc_jit_name record{};
    record.head = head(USC_RECORD_JIT_NAME, 0, 0, kStart);
    record.mm = mm;
    record.name_bytes = static_cast<__u16>(text.size());
    record.address = address;
    record.start = start;
    record.size = size;
    put(record, text);
  }

  void user(std::uint32_t task, std::uint32_t uid, std::uint64_t time) {
    usc_task_user record{};
    record.head = head(USC_RECORD_TASK_USER, 0, task, time);
    record.uid = uid;
    put(record);
  }

  void name(std::uint32_t task, const std::string& text, std::uint64_t time) {
    usc_task_name record{};
    record.head = head(USC_RECORD_TASK_NAME, 0, task, time);
    std::strncpy(record.name, text.c_str(), sizeof(record.name) - 1);
    put(record);
  }

  void meta(std::string_view key, std::string_view value) {
    usc_meta record{};
    record.head.time = kStart;
    const std::string text = std::string(key) + '\0' + std::string(value) + '\0';
    auto done = writer_->append_own(record, text);
    EXPECT_TRUE(done) << done.error().what;
  }

  void totals() {
    for (std::size_t cpu = 0; cpu < seq_.size(); cpu++) {
      usc_cpu_total total{};
      total.head = head(USC_RECORD_CPU_TOTAL, USC_CPU_USER, 0, kStart + 1000);
      total.head.cpu = static_cast<std::uint16_t>(cpu);
      total.records = seq_[cpu];
      put(total);
    }
  }

  // Records that took a number and never arrived.
  void skip(std::uint16_t cpu, std::uint32_t count = 1) { seq_[cpu] += count; }

  std::uint64_t close() {
    auto done = writer_->flush();
    EXPECT_TRUE(done) << done.error().what;
    return writer_->bytes();
  }

  usc_record head(std::uint16_t type, std::uint16_t cpu, std::uint32_t task, std::uint64_t time) {
    usc_record record{};
    record.type = type;
    record.cpu = cpu;
    record.seq = cpu < seq_.size() ? seq_[cpu]++ : own_++;
    record.task = task;
    record.time = time;
    return record;
  }

  template <typename Record>
  void put(const Record& record, std::string_view tail = {}) {
    auto done = writer_->append(trace::RecordBuilder<Record>(record).add(tail).head());
    EXPECT_TRUE(done) << done.error().what;
  }

 private:
  std::optional<trace::RawWriter> writer_;
  std::vector<std::uint32_t> seq_;
  std::uint32_t own_ = 0;
};

}  // namespace uscope
