// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Looks at hung applications for stores of hung_store.h: what each thread was found in, and who held what.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>

#include "store/db/database.h"
#include "tests/unit/analyzer/hung_store.h"

namespace uscope::test {

// The tables are temporary ones, in front of those that the store has or has not.
class MadeLook {
 public:
  MadeLook() {
    sql_ =
        "CREATE TEMP TABLE thread_look(thread_id INTEGER PRIMARY KEY, ts_ns INTEGER, state TEXT, asleep INTEGER, "
        "stop_signal INTEGER, tracer_pid INTEGER, tracer TEXT, kind_id INTEGER, a0 INTEGER, a1 INTEGER, a2 INTEGER, "
        "a3 INTEGER, a4 INTEGER, a5 INTEGER, timed INTEGER, caught INTEGER, by_timer INTEGER, "
        "parent_pid INTEGER);"
        "CREATE TEMP TABLE waited_descriptor(thread_id INTEGER, fd INTEGER, via_fd INTEGER, wants TEXT, bytes INTEGER, "
        "parts INTEGER);"
        "CREATE TEMP TABLE waited_process(thread_id INTEGER, pid INTEGER, pgid INTEGER, what TEXT);"
        "CREATE TEMP TABLE resource(process_id INTEGER, pid INTEGER, process TEXT, fd INTEGER, type TEXT, access TEXT, "
        "dev INTEGER, ino INTEGER, peer INTEGER, queued INTEGER, room INTEGER, listening INTEGER, nonblocking INTEGER, "
        "name TEXT, ts_ns INTEGER, at TEXT);"
        "CREATE TEMP TABLE held_lock(id INTEGER, class TEXT, mode TEXT, dev INTEGER, ino INTEGER, first INTEGER, "
        "last INTEGER, pid INTEGER, process_id INTEGER, waiting INTEGER, gone INTEGER);"
        "CREATE TEMP TABLE monitor_wait(thread_id INTEGER, what TEXT, object INTEGER, class TEXT, owner_tid INTEGER, "
        "java_thread TEXT);"
        "CREATE TEMP TABLE look_trouble(process_id INTEGER, what TEXT);";
  }

  // `thread`: its number in HungTrace::threads, from 1. The call is that of the thread's event.
  MadeLook& in_call(int thread, const std::string& call, std::uint64_t a0 = 0, std::uint64_t a1 = 0,
                    const std::string& timed = "0", const std::string& state = "asleep", int asleep = 1) {
    sql_ += "INSERT INTO temp.thread_look SELECT " + n(thread) + "," + end() + ",'" + state + "'," + n(asleep) +
            ",NULL,NULL,NULL,(SELECT id FROM kind WHERE name = '" + call + "')," + std::to_string(a0) + "," +
            std::to_string(a1) + ",0,0,0,0," + timed + ",0,0,NULL;";
    return *this;
  }
  // The process of `thread` has handlers for these signals, which else has none: bit 0 is signal 1. "NULL": not known.
  MadeLook& catches(int thread, std::uint64_t signals) { return catches(thread, std::to_string(signals)); }
  MadeLook& catches(int thread, const std::string& signals) {
    sql_ += "UPDATE temp.thread_look SET caught = " + signals + " WHERE thread_id = " + n(thread) + ";";
    return *this;
  }
  MadeLook& awaits_timer(int thread) {
    sql_ += "UPDATE temp.thread_look SET by_timer = 1 WHERE thread_id = " + n(thread) + ";";
    return *this;
  }
  // The thread with this tid traces `thread` with ptrace.
  MadeLook& tracer(int thread, int tid) {
    sql_ += "UPDATE temp.thread_look SET tracer_pid = " + n(tid) + " WHERE thread_id = " + n(thread) + ";";
    return *this;
  }
  // A thread in a call on one descriptor.
  MadeLook& on(int thread, const std::string& call, int fd, const std::string& wants) {
    in_call(thread, call, static_cast<std::uint64_t>(fd));
    return waits(thread, fd, wants);
  }
  MadeLook& waits(int thread, int fd, const std::string& wants, const std::string& via = "NULL",
                  const std::string& bytes = "NULL", const std::string& parts = "NULL") {
    sql_ += "INSERT INTO temp.waited_descriptor VALUES(" + n(thread) + "," + n(fd) + "," + via + ",'" + wants + "'," +
            bytes + "," + parts + ");";
    return *this;
  }
  MadeLook& child(int thread, int pid) {
    in_call(thread, "wait4", static_cast<std::uint64_t>(pid));
    sql_ +=
        "INSERT INTO temp.waited_process VALUES(" + n(thread) + "," + (pid > 0 ? n(pid) : "NULL") + ",NULL,'child');";
    return *this;
  }
  MadeLook& stopped(int thread, int signal) {
    sql_ += "INSERT INTO temp.thread_look VALUES(" + n(thread) + "," + end() + ",'stopped',1," + n(signal) +
            ",NULL,NULL,NULL,0,0,0,0,0,0,NULL,NULL,NULL,NULL);";
    return *this;
  }
  MadeLook& traced(int thread, int tracer) {
    sql_ += "INSERT INTO temp.thread_look VALUES(" + n(thread) + "," + end() + ",'traced',1,NULL," + n(tracer) +
            ",'gdb',NULL,0,0,0,0,0,0,NULL,NULL,NULL,NULL);";
    return *this;
  }
  // The parent of `thread`'s process at the look; 0: none that uscope sees.
  MadeLook& parent(int thread, int pid) {
    sql_ += "UPDATE temp.thread_look SET parent_pid = " + n(pid) + " WHERE thread_id = " + n(thread) + ";";
    return *this;
  }
  // A number in the lock that `thread` waits for is that of a thread of process `pid`, which is not traced.
  MadeLook& owner(int thread, int number, int pid) {
    sql_ += "INSERT INTO temp.waited_process VALUES(" + n(thread) + "," + n(pid) + "," + n(number) + ",'owner');";
    return *this;
  }
  // A call of `thread` about file `path` of the file system `mount`, whose device is `dev`.
  MadeLook& served(int thread, int process, const std::string& call, const std::string& path, const std::string& mount,
                   int dev) {
    in_call(thread, call).waits(thread, -2, "other");
    const std::string start = "INSERT INTO temp.resource VALUES(" + n(process) + "," + n(100 * process) + ",'app',-2,'";
    const std::string end_of = "','rw'," + n(dev) + ",0,NULL,1,NULL,NULL,0,'";
    sql_ += start + "file" + end_of + path + "',0,'look');" + start + "mount" + end_of + mount + "',0,'look');";
    return *this;
  }
  MadeLook& monitor(int thread, const std::string& what, int object, int owner,
                    const std::string& class_name = "Account") {
    sql_ += "INSERT INTO temp.monitor_wait VALUES(" + n(thread) + ",'" + what + "'," + n(object) + ",'" + class_name +
            "'," + (owner > 0 ? n(owner) : "NULL") + ",'t');";
    return *this;
  }
  // `process`: its number in HungTrace::processes, from 1; 0: process 9999, which is not traced.
  MadeLook& holds(int process, int fd, const std::string& type, const std::string& access, int ino,
                  const std::string& more = "NULL,NULL,NULL,NULL,0", std::string name = "") {
    if (name.empty()) name = (type == "unix" ? "socket" : type) + ":[" + n(ino) + "]";
    sql_ += "INSERT INTO temp.resource SELECT " + who(process) + ",'" + (process ? "app" : "other") + "'," + n(fd) +
            ",'" + type + "','" + access + "',5," + n(ino) + "," + more + ",'" + name + "',1,'look';";
    return *this;
  }
  MadeLook& pipe(int ino, int reader, int read_fd, int writer, int write_fd) {
    return holds(reader, read_fd, "pipe", "r", ino).holds(writer, write_fd, "pipe", "w", ino);
  }
  MadeLook& socket(int process, int fd, int ino, int peer) {
    return holds(process, fd, "unix", "rw", ino, n(peer) + ",NULL,NULL,NULL,0");
  }
  // `process` 0: as holds(). `dev`: of System V objects their key.
  MadeLook& lock(int id, const std::string& type, int ino, int process, bool waiting, bool gone = false, int dev = 5) {
    const std::string its = who(process);
    const auto comma = its.find(',');
    sql_ += "INSERT INTO temp.held_lock SELECT " + n(id) + ",'" + type + "','write'," + n(dev) + "," + n(ino) +
            ",0,NULL," + its.substr(comma + 1) + "," + its.substr(0, comma) + "," + n(waiting ? 1 : 0) + "," +
            n(gone ? 1 : 0) + ";";
    return *this;
  }
  MadeLook& trouble(int process, const std::string& what) {
    sql_ += "INSERT INTO temp.look_trouble VALUES(" + n(process) + ",'" + what + "');";
    return *this;
  }

  void put_into(const store::Database& database) const {
    sqlite3_set_authorizer(database.handle(), nullptr, nullptr);
    char* message = nullptr;
    const int code = sqlite3_exec(database.handle(), sql_.c_str(), nullptr, nullptr, &message);
    EXPECT_EQ(code, SQLITE_OK) << (message ? message : "");
    sqlite3_free(message);
  }

 private:
  static std::string end() { return std::to_string(kStart + 30'000'000'000); }
  static std::string n(int number) { return std::to_string(number); }
  static std::string who(int process) {
    return process == 0 ? "NULL,9999" : n(process) + ",(SELECT pid FROM process WHERE id = " + n(process) + ")";
  }

  std::string sql_;
};

}  // namespace uscope::test
