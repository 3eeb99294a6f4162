// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Stores of made-up runs: so many calls of a kind, from a function, with a result and a duration.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "syscalls/syscall_table.h"
#include "tests/unit/analyzer/sample_trace.h"

namespace uscope::test {

struct MadeCalls {
  std::string kind = "read";
  std::string function = "work";
  int count = 1;
  std::int64_t result = 0;
  std::int64_t dur_ns = 1000;  // negative: never returned
  std::string argument{};      // what it points to; empty: nothing
  std::string caller = "main";
  std::int64_t a0 = 0;
};

struct MadeModule {
  std::string path = "/usr/sbin/server";
  std::string build_id = "aa";
};

struct MadeRun {
  std::vector<MadeCalls> calls;
  double seconds = 10;
  MadeModule module{};
  std::map<std::string, std::string> meta{};
  std::string more_sql{};
  std::vector<std::string> programs{"server"};
};

inline std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

inline void write_run(const std::filesystem::path& path, const MadeRun& run) {
  std::map<std::string, std::string> meta{{"start_ns", std::to_string(kStart)},
                                          {"duration_ns", std::to_string(static_cast<std::int64_t>(run.seconds * 1e9))},
                                          {"mode", "4"},
                                          {"frames", "64"},
                                          {"calls", "all"},
                                          {"target", "server"},
                                          {"complete", "1"}};
  for (const auto& [key, value] : run.meta) meta[key] = value;
  std::string sql =
      "INSERT INTO process(id, pid, ns_pid, parent_id, start_ns, end_ns, exit_code, exit_signal, uses_io_uring) "
      "VALUES(1, 100, 100, NULL, 1, NULL, NULL, NULL, 0);"
      "INSERT INTO thread VALUES(1, 1, 100, 100, 'worker', 1, NULL, NULL);"
      "INSERT INTO module VALUES(1, " +
      quoted(run.module.path) + ", " + (run.module.build_id.empty() ? "NULL" : quoted(run.module.build_id)) +
      ", 'app'),"
      "(2, '/usr/lib/libc.so.6', 'cc', 'library');";
  for (const auto& [key, value] : meta) sql += "INSERT INTO meta VALUES(" + quoted(key) + "," + quoted(value) + ");";
  for (std::size_t i = 0; i < run.programs.size(); i++)
    sql += "INSERT INTO image VALUES(" + std::to_string(i + 1) + ", 1, 5, " + quoted("/usr/sbin/" + run.programs[i]) +
           ", '[]', " + quoted(run.programs[i]) + ", '[]');";
  std::map<std::string, int> kinds;
  std::map<std::string, int> strings;
  std::map<std::pair<std::string, std::string>, int> stacks;
  const auto number = [&](auto& map, const auto& key) {
    const auto [at, is_new] = map.try_emplace(key, static_cast<int>(map.size()) + 1);
    return std::pair(std::to_string(at->second), is_new);
  };
  int event = 0;
  for (const MadeCalls& calls : run.calls) {
    const auto [kind, new_kind] = number(kinds, calls.kind);
    if (new_kind) {
      const auto nr = syscalls::syscall_number(USC_ABI_X86_64, calls.kind);
      sql += "INSERT INTO kind VALUES(" + kind + "," + quoted(calls.kind) + ",'syscall','x86_64'," +
             (nr ? std::to_string(*nr) : kind) + ");";
    }
    const auto [stack, new_stack] = number(stacks, std::pair(calls.function, calls.caller));
    if (new_stack) {
      const int first = std::stoi(stack) * 2;
      const std::string frame = std::to_string(first);
      const std::string outer = std::to_string(first + 1);
      sql += "INSERT INTO frame(id, module_id, rel_pc, function, function_offset, file, line, inlined) VALUES(" +
             frame + ", 1, " + frame + ", " + quoted(calls.function) + ", 4, NULL, NULL, 0),(" + outer + ", 1, " +
             outer + ", " + quoted(calls.caller) +
             ", 4, NULL, NULL, 0);"
             "INSERT INTO stack(id, depth, ended, trigger_frame_id, trigger_fallback, folded) VALUES(" +
             stack + ", 2, 'root', " + frame + ", 0, " + quoted(calls.caller + ";" + calls.function) +
             ");"
             "INSERT INTO stack_frame VALUES(" +
             stack + ", 0, 0, " + frame + ", 'user'),(" + stack + ", 1, 0, " + outer + ", 'user');";
    }
    if (!calls.argument.empty())
      if (const auto [id, is_new] = number(strings, calls.argument); is_new)
        sql += "INSERT INTO string VALUES(" + id + "," + quoted(calls.argument) + ");";
    for (int i = 0; i < calls.count; i++) {
      const std::string id = std::to_string(++event);
      const bool open = calls.dur_ns < 0;
      sql += "INSERT INTO event VALUES(" + id + "," + std::to_string(kStart + event * 1000) + "," +
             (open ? "NULL, 'open'" : std::to_string(calls.dur_ns) + ", 'returned'") + ", 1, 1, " + kind + "," +
             (open ? "NULL" : std::to_string(calls.result)) + "," + stack + "," + std::to_string(calls.a0) +
             ", 0, 0, 0, 0, 0, NULL);";
      if (!calls.argument.empty())
        sql += "INSERT INTO event_string(event_id, arg, string_id, late, source) VALUES(" + id + ", 1, " +
               std::to_string(strings.at(calls.argument)) + ", 0, 0);";
    }
  }
  write_store(path, sql + kCountEvents + run.more_sql);
}

}  // namespace uscope::test
