// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Stores of applications that hang, made thread by thread: the call that each one is in, the futex that it waits for,
// the words around it, and who woke it before. One fact less or more is a change of one field.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/analyzer/sample_trace.h"

namespace uscope::test {

using MadeWords = std::map<int, std::uint32_t>;  // by offset from the futex

// glibc's structures, as lock_owner.h has them.
inline MadeWords mutex_words(std::uint32_t owner, std::uint32_t kind = 0) {
  return {{0, 2}, {4, 0}, {8, owner}, {12, 1}, {16, kind}, {20, 0}};
}
inline MadeWords pi_words(std::uint32_t owner) {
  return {{0, owner | 0x80000000}, {4, 0}, {8, owner}, {12, 1}, {16, 0x20}};
}
inline MadeWords cond_words() {
  return {{-40, 2}, {-8, 4}, {0, 0}, {4, 0}};
}

struct MadeFrame {
  std::string function;
  std::string module = "libc.so.6";
  std::vector<std::uint64_t> locks{};
};

inline std::vector<MadeFrame> under(const std::string& library, const std::string& application) {
  return {{"__futex_wait"}, {library}, {application, "app"}, {"main", "app"}};
}

// Waits since `waited` seconds before the end, for a mutex unless told otherwise.
struct MadeThread {
  int tid = 0;
  std::string name{};
  std::string call = "futex";  // empty: it runs
  std::string how = "open";
  std::vector<MadeFrame> stack = under("pthread_mutex_lock", "work");
  std::uint64_t address = 0;
  std::uint32_t op = 128;
  std::uint32_t expected = 2;
  MadeWords words{};
  bool fresh = true;                 // the words are those of the stop
  std::optional<std::string> key{};  // none: private to the process
  std::optional<int> asleep = 1;     // none: was not looked at
  std::optional<int> untraced_sharers{};
  std::optional<int> open{};  // whether others may open the shared file
  std::optional<std::int64_t> timeout_ns{};
  int futexes = 1;
  std::optional<int> handlers = 0;  // its process handles signals; none: not known
  double waited = 10;
  int process = 1;
  int ns_tid = 0;     // 0: tid
  double ended = -1;  // seconds from the start
  double left = -1;   // the trace; likewise
  double took = -1;   // seconds; it returned
  std::string abi = "x86_64";
  std::uint64_t a0 = 0;   // of a call other than futex
  std::string object{};   // of its descriptor; empty: not known
  bool doubtful = false;  // another thread could have replaced that
};

inline MadeThread mutex_waiter(int tid, const std::string& name, std::uint64_t address, std::uint32_t owner) {
  return {.tid = tid, .name = name, .address = address, .words = mutex_words(owner)};
}
inline MadeThread cond_waiter(int tid, const std::string& name, std::uint64_t address) {
  return {.tid = tid,
          .name = name,
          .stack = under("pthread_cond_wait", "await"),
          .address = address,
          .op = 393,
          .expected = 0,
          .words = cond_words()};
}
inline MadeThread joiner(int tid, const std::string& name, int joined) {
  return {.tid = tid,
          .name = name,
          .stack = under("pthread_join", "main"),
          .address = 0x7f0000000000 + static_cast<std::uint64_t>(joined) * 0x1000,
          .op = 265,
          .expected = static_cast<std::uint32_t>(joined),
          .words = {{0, static_cast<std::uint32_t>(joined)}}};
}
inline MadeThread sem_waiter(int tid, const std::string& name, std::uint64_t address) {
  return {.tid = tid,
          .name = name,
          .stack = under("sem_wait", "take"),
          .address = address,
          .op = 393,
          .expected = 0,
          .words = {{0, 0}, {4, 1}, {8, 0}}};
}
inline MadeThread elsewhere(int tid, const std::string& name, const std::string& call) {
  return {.tid = tid, .name = name, .call = call, .stack = under(call, "serve")};
}
inline MadeThread running(int tid, const std::string& name) {
  return {.tid = tid, .name = name, .call = ""};
}

struct MadeWake {
  int tid = 0;
  std::uint64_t address = 0;
  double at = 5;  // seconds from the start
  int result = 1;
  std::string key{};  // of a shared one
};

struct MadeProcess {
  int pid = 100;
  int ns_pid = 0;  // 0: pid
  int parent = 0;
  double ended = -1;  // killed by SIGINT then
  bool io_uring = false;
  int space = 0;  // 0: one of its own
  bool executed = true;
  std::string origin{};  // process.origin; empty: "exec", or where it has not executed a program "fork"
};

// A trace of 30 seconds.
struct HungTrace {
  std::vector<MadeThread> threads{};
  std::vector<MadeWake> wakes{};
  std::vector<MadeProcess> processes{MadeProcess{}};
  std::map<std::string, std::string> meta{};
  std::string more_sql{};
};

class HungStore {
 public:
  explicit HungStore(const HungTrace& trace) : trace_(trace) {}

  std::string sql() {
    std::map<std::string, std::string> meta{
        {"start_ns", std::to_string(kStart)}, {"duration_ns", "30000000000"}, {"calls", "all"}, {"complete", "1"}};
    for (const auto& [key, value] : trace_.meta) meta[key] = value;
    for (const auto& [key, value] : meta) out_ += "INSERT INTO meta VALUES(" + quote(key) + "," + quote(value) + ");";
    out_ += "INSERT INTO module VALUES(1, '/usr/bin/app', 'aa', 'app');";
    modules_["app"] = 1;
    for (std::size_t i = 0; i < trace_.processes.size(); i++) add(static_cast<int>(i + 1), trace_.processes[i]);
    for (const MadeThread& thread : trace_.threads) add(thread);
    for (const MadeWake& wake : trace_.wakes) add(wake);
    return out_ + trace_.more_sql;
  }

 private:
  static std::string quote(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
    return out + "'";
  }
  static std::string at(double seconds) { return std::to_string(kStart + static_cast<std::int64_t>(seconds * 1e9)); }
  static std::string maybe(const std::optional<int>& value) { return value ? std::to_string(*value) : "NULL"; }

  void add(int id, const MadeProcess& process) {
    const std::string number = std::to_string(id);
    out_ += "INSERT INTO process VALUES(" + number + "," + std::to_string(process.pid) + "," +
            std::to_string(process.ns_pid ? process.ns_pid : process.pid) + "," +
            (process.parent ? std::to_string(process.parent) : "NULL") + ",1," +
            (process.ended < 0 ? "NULL, NULL, NULL" : at(process.ended) + ", NULL, 2") + "," +
            (process.io_uring ? "1" : "0") + "," + std::to_string(process.space ? process.space : 1000 + id) + "," +
            quote(!process.origin.empty() ? process.origin
                  : process.executed      ? "exec"
                                          : "fork") +
            ", NULL, NULL, NULL);";
    if (process.executed)
      out_ += "INSERT INTO image VALUES(" + number + "," + number + ", 1, '/usr/bin/app', '[]', 'app', '[\"app\"]');";
  }

  int kind(const std::string& name, const std::string& abi) {
    const auto [place, is_new] = kinds_.try_emplace(abi + name, static_cast<int>(kinds_.size()) + 1);
    if (is_new)
      out_ += "INSERT INTO kind VALUES(" + std::to_string(place->second) + "," + quote(name) + ",'syscall'," +
              quote(abi) + "," + std::to_string(place->second) + ");";
    return place->second;
  }

  int stack(const std::vector<MadeFrame>& frames) {
    const std::string id = std::to_string(++stacks_);
    out_ += "INSERT INTO stack(id, depth, ended, trigger_frame_id, trigger_fallback, folded) VALUES(" + id + "," +
            std::to_string(frames.size()) + ",'root',NULL,0,'');";
    for (std::size_t i = 0; i < frames.size(); i++) {
      const auto [module, is_new] = modules_.try_emplace(frames[i].module, static_cast<int>(modules_.size()) + 1);
      if (is_new)
        out_ += "INSERT INTO module VALUES(" + std::to_string(module->second) + "," +
                quote("/usr/lib/" + frames[i].module) + ",'bb','library');";
      const std::string frame = std::to_string(++frames_);
      out_ += "INSERT INTO frame(id, module_id, rel_pc, function, function_offset, file, line, inlined) VALUES(" +
              frame + "," + std::to_string(module->second) + "," + frame + "," + quote(frames[i].function) +
              ",4,NULL,NULL,0);INSERT INTO stack_frame VALUES(" + id + "," + std::to_string(i) + ",0," + frame +
              ",'user');";
      for (const std::uint64_t word : frames[i].locks)
        out_ += "INSERT INTO frame_lock VALUES(" + frame + "," + std::to_string(word) + ");";
    }
    return stacks_;
  }

  // 96 bytes from 48 before the futex on.
  static std::string blob(const MadeWords& words) {
    if (words.empty()) return "NULL";
    std::string bytes(96, '\0');
    for (const auto& [offset, value] : words)
      for (int i = 0; i < 4; i++)
        bytes.at(static_cast<std::size_t>(48 + offset + i)) = static_cast<char>(value >> (8 * i) & 0xff);
    std::string hex = "x'";
    for (const char byte : bytes) {
      constexpr const char* kDigits = "0123456789abcdef";
      hex += kDigits[static_cast<unsigned char>(byte) >> 4];
      hex += kDigits[static_cast<unsigned char>(byte) & 15];
    }
    return hex + "'";
  }

  void add(const MadeThread& thread) {
    const std::string id = std::to_string(++threads_);
    ids_[thread.tid] = threads_;
    out_ += "INSERT INTO thread VALUES(" + id + "," + std::to_string(thread.process) + "," +
            std::to_string(thread.tid) + "," + std::to_string(thread.ns_tid ? thread.ns_tid : thread.tid) + "," +
            quote(thread.name) + ",1," + (thread.ended < 0 ? "NULL" : at(thread.ended)) + "," +
            (thread.left < 0 ? "NULL" : at(thread.left)) + ");";
    if (thread.call.empty()) return;
    const MadeProcess& process = trace_.processes.at(static_cast<std::size_t>(thread.process - 1));
    const double end = process.ended < 0 ? 30 : process.ended;
    const std::string event = std::to_string(++events_);
    const bool futex = thread.call == "futex";
    out_ +=
        "INSERT INTO event VALUES(" + event + "," + at(end - thread.waited) + "," +
        (thread.took < 0 ? "NULL" : std::to_string(static_cast<std::int64_t>(thread.took * 1e9))) + "," +
        quote(thread.took < 0 ? thread.how : "returned") + "," + id + "," + std::to_string(thread.process) + "," +
        std::to_string(kind(thread.call, thread.abi)) + ",NULL," + std::to_string(stack(thread.stack)) + "," +
        (futex ? std::to_string(thread.address) + "," + std::to_string(thread.op) : std::to_string(thread.a0) + ",0") +
        "," + std::to_string(thread.expected) + ",0,0,0,NULL);";
    if (!thread.object.empty())
      out_ += "INSERT INTO string SELECT 7000 + " + event + "," + quote(thread.object) +
              ";INSERT INTO event_string VALUES(" + event + ",0,7000 + " + event + "," + (thread.doubtful ? "1" : "0") +
              ",2);";
    if (!futex) return;
    const std::string from = std::to_string(thread.address - 48);
    const std::string words = blob(thread.words);
    out_ += "INSERT INTO futex_wait VALUES(" + event + "," + std::to_string(thread.address) + "," +
            std::to_string(thread.op) + "," + std::to_string(thread.expected) + "," +
            (thread.timeout_ns ? std::to_string(*thread.timeout_ns) : "NULL") + "," + words + "," +
            (thread.fresh ? words : "NULL") + "," +
            quote(thread.key.value_or("mm:" + std::to_string(thread.process) + ":0x" + hexadecimal(thread.address))) +
            "," + from + "," + (thread.fresh ? from : "NULL") + "," + maybe(thread.asleep) + "," +
            maybe(thread.untraced_sharers) + "," + std::to_string(thread.futexes) + "," + maybe(thread.handlers) + "," +
            maybe(thread.open) + ");";
  }

  static std::string hexadecimal(std::uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof(text), "%llx", static_cast<unsigned long long>(value));
    return text;
  }

  void add(const MadeWake& wake) {
    const std::string event = std::to_string(++events_);
    out_ += "INSERT INTO event VALUES(" + event + "," + at(wake.at) + ",900,'returned'," +
            std::to_string(ids_.at(wake.tid)) + ",1," + std::to_string(kind("futex", "x86_64")) + "," +
            std::to_string(wake.result) + ",NULL," + std::to_string(wake.address) + "," +
            (wake.key.empty() ? "129" : "1") + ",1,0,0,0,NULL);";
    if (!wake.key.empty())
      out_ += "INSERT INTO futex_wake VALUES(" + event + "," + std::to_string(wake.address) + ",1," + quote(wake.key) +
              ");";
  }

  const HungTrace& trace_;
  std::string out_;
  std::map<std::string, int> kinds_;
  std::map<std::string, int> modules_;
  std::map<int, int> ids_;
  int stacks_ = 0;
  int frames_ = 0;
  int threads_ = 0;
  int events_ = 0;
};

// `also`: SQL for what the trace has beside.
inline void write_hung(const std::filesystem::path& path, const HungTrace& trace, const std::string& also = "") {
  write_store(path, HungStore(trace).sql() + also);
}

}  // namespace uscope::test
