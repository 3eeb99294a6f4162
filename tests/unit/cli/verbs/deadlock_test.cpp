// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <nlohmann/json.hpp>

#include "tests/unit/analyzer/hung_store.h"
#include "tests/unit/cli/run_command.h"

namespace uscope::test {
namespace {

class DeadlockCommand : public CommandTest {
 protected:
  DeadlockCommand() {
    HungTrace trace{.threads = {joiner(100, "main", 101), mutex_waiter(101, "left", 0x5000, 102),
                                mutex_waiter(102, std::string(kHostile), 0x6000, 101)}};
    trace.threads[1].stack = under("pthread_mutex_lock", "left_then_right");
    trace.threads[2].stack = under("pthread_mutex_lock", std::string(kHostile));
    write_hung(folder_ / "hung.db", trace);
    write_hung(folder_ / "stall.db", {.threads = {sem_waiter(100, "main", 0x5000), sem_waiter(101, "b", 0x6000)}});
    write_hung(folder_ / "busy.db", {.threads = {mutex_waiter(101, "a", 0x5000, 102), running(102, "b")}});
    write_hung(folder_ / "idle.db", {.threads = {elsewhere(100, "main", "epoll_wait"), cond_waiter(101, "p", 0x5028)}});
  }
};

TEST_F(DeadlockCommand, TextTellsTheCircleAsAStory) {
  const Finished run = uscope({"deadlock", "hung.db"});
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.err, "");
  expect_golden(run.out, "deadlock.txt");
  expect_harmless(run.out, false);
}

TEST_F(DeadlockCommand, TextShowsGeneratedCodeAndPutsWrappersBehindTheFunctionThatWaits) {
  HungTrace trace{.threads = {joiner(100, "main", 101), mutex_waiter(101, "left", 0x5000, 102),
                              mutex_waiter(102, "right", 0x6000, 101)}};
  trace.threads[1].stack = {{"pthread_mutex_lock"},
                            {"acquire", "app"},
                            {"py::take:/srv/app.py", "[jit]"},
                            {"py::run:/srv/app.py", "[jit]"},
                            {"main", "app"}};
  trace.threads[2].stack = {{"pthread_mutex_lock"},
                            {"__gthread_mutex_lock", "app"},
                            {"std::mutex::lock()", "app"},
                            {"transfer", "app"},
                            {"main", "app"}};
  write_hung(folder_ / "jit.db", trace);
  const std::string text = uscope({"deadlock", "jit.db"}).out;
  for (const char* wanted : {" waits for the mutex 0x5000 in\n          py::take:/srv/app.py, held by",
                             "waits for the mutex 0x6000 in\n          transfer, held by",
                             "      py::take:/srv/app.py  [jit]\n      py::run:/srv/app.py  [jit]\n"
                             "      through pthread_mutex_lock ← acquire\n",
                             "      transfer  app\n      main  app\n"
                             "      through pthread_mutex_lock ← __gthread_mutex_lock ← std::mutex::lock()\n"})
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted << "\n" << text;
}

TEST_F(DeadlockCommand, TheExitStatusIsTheVerdict) {
  EXPECT_EQ(uscope({"deadlock", "stall.db"}).code, 1);
  const Finished idle = uscope({"deadlock", "idle.db"});
  EXPECT_EQ(idle.code, 0);
  EXPECT_EQ(idle.out.find("NO DEADLOCK FOUND  the threads that wait can still be woken: thread 100 `main` waits in"),
            0U)
      << idle.out;
  const Finished missing = uscope({"deadlock", "missing.db"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("missing.db"), std::string::npos);
  EXPECT_EQ(missing.out, "");
}

TEST_F(DeadlockCommand, ThreadsThatComputeAreNamed) {
  const std::string text = uscope({"deadlock", "busy.db"}).out;
  EXPECT_NE(text.find("\n    thread 102 `b` of app (pid 100): no call for 30.000 s; thread 101 waits for it\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(uscope({"deadlock", "hung.db"}).out.find("COMPUTING"), std::string::npos);
  const auto value = nlohmann::json::parse(uscope({"deadlock", "busy.db", "--format", "json"}).out);
  ASSERT_EQ(value["computing"].size(), 1U);
  EXPECT_EQ(value["computing"][0]["waited_by"], nlohmann::json{101});
}

TEST_F(DeadlockCommand, WhatIsWaitedForBesideFutexesIsListed) {
  HungTrace trace{.threads = {elsewhere(100, "main", "read"), elsewhere(101, "b", "poll")}};
  trace.threads[0].a0 = 3;
  trace.threads[0].object = "/tmp/fifo";
  for (int tid = 102; tid < 112; tid++) trace.threads.push_back(elsewhere(tid, "pool", "epoll_wait"));
  for (auto& thread : trace.threads) thread.doubtful = thread.tid == 100;
  write_hung(folder_ / "fifo.db", trace);
  const Finished run = uscope({"deadlock", "fifo.db"});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(
      run.out,
      "NO DEADLOCK FOUND  no thread waits for a futex at the end, but 12 threads wait in other calls, which may be\n"
      "          what hangs\n"
      "WAITING   12 threads wait in other calls:\n"
      "    read of /tmp/fifo (probably) in serve: thread 100 `main` of app (pid 100), for 10.000 s\n"
      "    poll in serve: thread 101 `b` of app (pid 100), for 10.000 s\n"
      "    epoll_wait of descriptor 0 in serve: 10 threads, the longest for 10.000 s: thread 102 `pool` of app (pid\n"
      "      100), 103, 104, 105 …\n");
  expect_schema(uscope({"deadlock", "fifo.db", "--format", "json"}).out, "deadlock");

  HungTrace many;
  for (int tid = 100; tid < 116; tid++) many.threads.push_back(elsewhere(tid, "t", "read"));
  for (auto& thread : many.threads) thread.a0 = static_cast<std::uint64_t>(thread.tid);
  write_hung(folder_ / "many.db", many);
  const std::string text = uscope({"deadlock", "many.db"}).out;
  EXPECT_NE(text.find("read of descriptor 111"), std::string::npos) << text;
  EXPECT_EQ(text.find("read of descriptor 112"), std::string::npos) << text;
  EXPECT_NE(text.find("    and 4 more kinds (--format json has all)\n"), std::string::npos) << text;
}

// Threads of one name in one place are told once, the longest wait first.
TEST_F(DeadlockCommand, EqualWaitsForFutexesAreListedOnce) {
  HungTrace trace{.threads = {elsewhere(100, "main", "epoll_wait")}};
  for (int tid = 101; tid < 112; tid++) trace.threads.push_back(mutex_waiter(tid, "pool", 0x5000, 100));
  trace.threads.push_back(mutex_waiter(112, "other", 0x5000, 100));
  write_hung(folder_ / "equal.db", trace);
  const std::string text = uscope({"deadlock", "equal.db"}).out;
  EXPECT_NE(text.find(": 11 threads, the longest thread 101 `pool` of app (pid 100)"), std::string::npos) << text;
  EXPECT_NE(text.find("\n    thread 112 `other` of app (pid 100), waiting for "), std::string::npos) << text;
}

TEST_F(DeadlockCommand, DotDrawsTheGraphAndNamesInItAreInert) {
  const Finished run = uscope({"deadlock", "hung.db", "--format", "dot"});
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.err, "");
  expect_harmless(run.out, false);
  for (const char* wanted : {"digraph waits {\n", "  subgraph cluster_100 {\n    label=\"app (pid 100)\";\n",
                             "    t101 [label=\"thread 101 left: a mutex\", color=red];\n",
                             "    t100 [label=\"thread 100 main: a thread's exit (join)\"];\n",
                             "  t101 -> t102 [label=\"a mutex\"];\n", "  t102 -> t101 [label=\"a mutex\"];\n"})
    EXPECT_NE(run.out.find(wanted), std::string::npos) << wanted << "\n" << run.out;
  // A name ends no text, and no line.
  HungTrace trace{.threads = {mutex_waiter(101, "\"];\n x [label=\"\\", 0x5000, 102), running(102, "b")}};
  write_hung(folder_ / "quotes.db", trace);
  const std::string text = uscope({"deadlock", "quotes.db", "--format", "dot"}).out;
  EXPECT_EQ(text.find("\n x ["), std::string::npos) << text;
  EXPECT_EQ(text.find(" \"];"), std::string::npos) << text;
  EXPECT_NE(text.find("label=\"thread 101 \\\""), std::string::npos) << text;
}

TEST_F(DeadlockCommand, JsonHoldsToItsSchema) {
  for (const char* name : {"hung.db", "stall.db", "idle.db", "busy.db", "sample.db"}) {
    const Finished run = uscope({"deadlock", name, "--format", "json"});
    expect_schema(run.out, "deadlock");
    expect_harmless(run.out, true);
  }
  const auto value = nlohmann::json::parse(uscope({"deadlock", "hung.db", "--format", "json"}).out);
  EXPECT_EQ(value["verdict"], "deadlock");
  EXPECT_TRUE(value["reason"].is_null());
  EXPECT_EQ(value["blocked"].size(), 3U);
  const auto& finding = value["findings"][0];
  EXPECT_EQ(finding["type"], "cycle");
  const auto& left = finding["threads"][0];
  EXPECT_EQ(left["tid"], 101);
  EXPECT_EQ(left["address"], "0x5000");
  EXPECT_EQ(left["primitive"], "mutex");
  EXPECT_EQ(left["held_by"], nlohmann::json{102});
  EXPECT_EQ(left["function"], "left_then_right");
  EXPECT_EQ(left["stack"], (nlohmann::json{"__futex_wait", "pthread_mutex_lock", "left_then_right", "main"}));
}

}  // namespace
}  // namespace uscope::test
