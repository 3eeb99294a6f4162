// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Files that are not what a verb expects, damaged ones, and loads that do not come to their end: each is told clearly,
// with the way out and the right exit status, and nothing is lost in silence.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/frame_word.h"
#include "tests/unit/cli/run_command.h"
#include "tests/unit/trace/raw_trace.h"

namespace uscope::test {
namespace {

using Json = nlohmann::json;

class BadInput : public CommandTest {
 protected:
  // Three processors, two tasks, `events` calls with a stack; ended in order.
  void write_raw(const std::string& name, int events = 20) {
    RawTrace trace(folder_ / name, 3);
    trace.task({});
    trace.exec(1, 1, 1, 2, "/opt/bin/app", std::string("app\0-x\0", 7));
    trace.file(2, "/opt/bin/app", "IDA");
    trace.stack(1, {test::frame_word(2, 0x1010, true), test::frame_word(2, 0x1100, false)});
    for (int i = 0; i < events; i++)
      trace.event({.entry = kStart + 10 + static_cast<std::uint64_t>(i),
                   .end = kStart + 20 + static_cast<std::uint64_t>(i),
                   .stack = 1,
                   .cpu = static_cast<std::uint16_t>(i % 3)});
    trace.meta("host", "box");
    trace.totals();
    trace.close();
  }

  // Fails with 2, this in its first line, and that as the way out in the second; prints nothing else.
  void expect_failure(const std::vector<std::string>& words, const std::string& what, const std::string& way_out) {
    const Finished run = uscope(words);
    const std::string where = words[0] + " " + words[1];
    EXPECT_EQ(run.code, 2) << where;
    EXPECT_EQ(run.out, "") << where;
    const std::size_t line = run.err.find('\n');
    ASSERT_NE(line, std::string::npos) << where << ": " << run.err;
    EXPECT_TRUE(run.err.starts_with("uscope: ")) << run.err;
    EXPECT_NE(run.err.substr(0, line).find(what), std::string::npos) << where << ": " << run.err;
    EXPECT_NE(run.err.substr(line).find(way_out), std::string::npos) << where << ": " << run.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "new.db")) << where;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "new.db.part")) << where;
  }

  void expect_no_store(const std::string& file, const std::string& what, const std::string& way_out) {
    for (const char* verb : {"report", "time", "files", "tree", "events", "deadlock", "export"})
      expect_failure({verb, file}, what, way_out);
    expect_failure({"sql", file, "SELECT 1"}, what, way_out);
  }

  void expect_no_raw(const std::string& file, const std::string& what, const std::string& way_out) {
    expect_failure({"load", file, "-o", "new.db"}, what, way_out);
    expect_failure({"raw", file}, what, way_out);
  }
};

TEST_F(BadInput, EachFileIsNamedAsWhatItIs) {
  write_raw("trace.raw");
  std::ofstream(folder_ / "empty");
  std::ofstream(folder_ / "text") << std::string(5000, 'x');
  std::ofstream(folder_ / "short") << "x";
  ASSERT_EQ(mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder_ / "device");
  const std::string give_store = "give a file that `uscope record` or `uscope load` has written";
  const std::string give_raw = "`uscope record --keep-raw`";
  expect_no_store("trace.raw", "trace.raw is a raw trace", "uscope load trace.raw -o FILE.db");
  expect_no_raw("sample.db", "sample.db is a database", "uscope report sample.db");
  expect_no_store("empty", "empty is empty", give_store);
  expect_no_raw("empty", "empty is empty", give_raw);
  expect_no_store("text", "text is not a database", give_store);
  expect_no_raw("text", "text is not a raw trace", give_raw);
  expect_no_store("short", "short is not a database", give_store);
  expect_no_raw("short", "short is not a raw trace", give_raw);
  for (const char* file : {".", "fifo", "device"}) {
    expect_no_store(file, "is not a regular file", give_store);
    expect_no_raw(file, "is not a regular file", "give a raw trace");
  }
  expect_no_store("missing", "cannot open missing: No such file or directory", give_store);
  expect_no_raw("missing", "cannot open missing: No such file or directory", "");
}

TEST_F(BadInput, AFileOfAnotherUserIsSaidToBe) {
  // The test program may not be reachable for others: the reader is copied beside the store.
  std::filesystem::permissions(folder_ / ".", std::filesystem::perms(0755));
  std::filesystem::copy_file(paths::kUscope, folder_ / "reader");
  std::vector<std::string> words{(folder_ / "reader").string(), "report", "sample.db"};
  if (geteuid() == 0) {
    words.insert(words.begin(), {"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"});
  } else {
    std::filesystem::permissions(path(), std::filesystem::perms(0));
  }
  const Finished run = run_command(folder_ / ".", words);
  EXPECT_EQ(run.code, 2) << run.out;
  EXPECT_NE(run.err.find("cannot open sample.db: Permission denied"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("read it as its owner, or as root"), std::string::npos) << run.err;
}

TEST_F(BadInput, ADamagedStoreIsAnErrorNotACrash) {
  const std::string whole = read_file(path());
  std::uint64_t seed = 11;
  const auto random = [&](std::size_t below) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (seed >> 33U) % below;
  };
  int failed = 0;
  for (int round = 0; round < 12; round++) {
    std::string bytes = whole;
    if (round % 3 == 0) bytes.resize(random(whole.size()));
    for (int i = 0; i < 20 && bytes.size() > 200; i++)
      bytes[100 + random(bytes.size() - 100)] ^= static_cast<char>(1 + random(255));
    std::ofstream(folder_ / "damaged.db", std::ios::binary | std::ios::trunc) << bytes;
    for (const char* verb : {"report", "time", "files", "tree", "events", "deadlock"}) {
      const Finished run = uscope({verb, "damaged.db"});
      EXPECT_TRUE(run.code == 0 || run.code == 2) << verb << " round " << round << ": " << run.code;
      if (run.code == 2) {
        EXPECT_TRUE(run.err.starts_with("uscope: ")) << run.err;
        failed++;
      }
      expect_harmless(run.out + run.err, false);
    }
  }
  EXPECT_GT(failed, 3);
}

// Cut off after any byte: the whole records before it are there, and the report begins with what is missing.
TEST_F(BadInput, ARawTraceCutOffAnywhereLoadsWhatIsWhole) {
  constexpr int kEvents = 12;
  write_raw("whole.raw", kEvents);
  const std::string whole = read_file(folder_ / "whole.raw");
  std::size_t before = 0;
  for (std::size_t size = sizeof(usc_raw_header); size < whole.size(); size += 47) {
    std::ofstream(folder_ / "cut.raw", std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    const Json loaded = Json::parse(output({"load", "cut.raw", "-o", "cut.db", "--format", "json"}));
    // Whole events up to here, counted by the lengths alone.
    std::size_t events = 0;
    for (std::size_t at = sizeof(usc_raw_header); at + sizeof(usc_record) <= size;) {
      usc_record head{};
      std::memcpy(&head, whole.data() + at, sizeof(head));
      if (at + head.size > size) break;
      events += head.type == USC_RECORD_EVENT;
      at += head.size;
    }
    EXPECT_EQ(loaded["events"], events) << size;
    EXPECT_GE(events, before);
    before = events;
    // The totals are the last records, one for each processor: with the first the trace counts as ended.
    if (size < whole.size() - 3 * sizeof(usc_cpu_total)) {
      EXPECT_EQ(loaded["complete"], false) << size;
      const std::string report = output({"report", "cut.db"});
      const std::size_t lost = report.find("cut_off");
      EXPECT_NE(lost, std::string::npos) << report;
      EXPECT_LT(lost, report.find("TRACED")) << report;
    }
  }
  EXPECT_EQ(before, static_cast<std::size_t>(kEvents));
}

TEST_F(BadInput, FlippedBytesAreToldFirst) {
  write_raw("trace.raw");
  std::string bytes = read_file(folder_ / "trace.raw");
  const std::size_t at = bytes.size() / 2 / 8 * 8;
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 300, '\xff');
  std::ofstream(folder_ / "trace.raw", std::ios::binary | std::ios::trunc) << bytes;
  const std::string text = output({"load", "trace.raw", "-o", "new.db"});
  EXPECT_NE(text.find("bytes of it are damaged"), std::string::npos) << text;
  const std::string report = output({"report", "new.db"});
  EXPECT_NE(report.find("raw_damaged"), std::string::npos) << report;
  EXPECT_LT(report.find("raw_damaged"), report.find("TRACED"));
}

// A load that a signal ends leaves the old store as it was, and no temporary file; SIGKILL leaves one, which the next
// load replaces.
TEST_F(BadInput, AnInterruptedLoadLeavesNoHalfStore) {
  write_raw("long.raw", 400'000);
  write_store(folder_ / "out.db", "INSERT INTO meta VALUES('which', 'the old one');");
  const std::string old = read_file(folder_ / "out.db");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
    const pid_t child = fork();
    if (child == 0) {
      const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
      const int error = ::open((folder_ / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      if (dup2(nothing, 1) < 0 || dup2(error, 2) < 0 || chdir((folder_ / ".").c_str()) != 0) _exit(126);
      execl(paths::kUscope, paths::kUscope, "load", "long.raw", "-o", "out.db", nullptr);
      _exit(127);
    }
    // In the midst of it: the temporary file has grown.
    const auto part = folder_ / "out.db.part";
    std::error_code none;
    constexpr int kHangMs = 200'000;  // no measure of speed: AddressSanitizer on a busy machine takes half a minute
    int waited = 0;
    for (; waited < kHangMs; waited++) {
      if (std::filesystem::exists(part, none) && std::filesystem::file_size(part, none) > (1U << 20U)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_LT(waited, kHangMs) << "the load never began to write";
    kill(child, number);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "ended before signal " << number << " came: " << status;
    EXPECT_EQ(WTERMSIG(status), number);
    EXPECT_EQ(read_file(folder_ / "out.db"), old) << number;
    EXPECT_EQ(std::filesystem::exists(part), number == SIGKILL) << number;
    if (number != SIGKILL) {
      EXPECT_EQ(read_file(folder_ / "err"),
                "uscope: interrupted: nothing was written to out.db\n"
                "  `uscope load long.raw -o out.db` does it again\n");
    }
  }
  write_raw("short.raw");
  EXPECT_NE(output({"load", "short.raw", "-o", "out.db"}).find("20 events, 0 lost"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out.db.part"));
}

TEST_F(BadInput, AFullDiskEndsALoadWithTheWayOut) {
  write_raw("long.raw", 50'000);
  std::filesystem::create_directory(folder_ / "small");
  const std::string mount = "mount -t tmpfs -o size=2m none small";
  if (run_command(folder_ / ".", {"unshare", "-m", "sh", "-c", mount}).code != 0)
    GTEST_SKIP() << "no tmpfs can be mounted here";
  const Finished run = run_command(
      folder_ / ".",
      {"unshare", "-m", "sh", "-c",
       mount + " && '" + paths::kUscope + "' load long.raw -o small/new.db; s=$?; ls -A small >&2; exit $s"});
  EXPECT_EQ(run.code, 2) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("uscope: "), std::string::npos);
  EXPECT_NE(run.err.find("full"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("free space on the disk, raise the limit of file sizes (ulimit -f), or write elsewhere"),
            std::string::npos)
      << run.err;
  EXPECT_EQ(run.err.find("new.db.part\n"), std::string::npos) << "left behind: " << run.err;
}

TEST_F(BadInput, FoldersThatCannotBeWrittenToAreNamed) {
  write_raw("trace.raw");
  const Finished missing = uscope({"load", "trace.raw", "-o", "nowhere/new.db"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("nowhere"), std::string::npos) << missing.err;
  EXPECT_NE(missing.err.find("create the folder"), std::string::npos) << missing.err;
  const Finished folder = uscope({"load", "trace.raw", "-o", "."});
  EXPECT_EQ(folder.code, 2);
}

// A clock that was set, and a suspended machine, are told; the trace's own times go on.
TEST_F(BadInput, ClocksThatWereSetAreTold) {
  const auto report = [&](const std::string& set, const std::string& suspended) {
    RawTrace trace(folder_ / ("clock" + set + ".raw"), 1);
    trace.task({});
    trace.event({});
    trace.meta("clock_set_ns", set);
    trace.meta("suspended_ns", suspended);
    trace.totals();
    trace.close();
    output({"load", "clock" + set + ".raw", "-o", "times.db"});
    return output({"report", "times.db"});
  };
  const std::string back = report("-3600000000000", "42000000000");
  EXPECT_NE(back.find("the system clock was set back by 3600.000 s"), std::string::npos) << back;
  EXPECT_NE(back.find("the machine was suspended for 42.000 s"), std::string::npos) << back;
  EXPECT_NE(report("5000000000", "0").find("set forward by 5.000 s"), std::string::npos);
  const std::string usual = report("-800", "300");
  EXPECT_EQ(usual.find("clock"), std::string::npos) << usual;
  EXPECT_EQ(usual.find("suspended"), std::string::npos) << usual;
  EXPECT_EQ(report("nonsense", "").find("clock was"), std::string::npos);
}

}  // namespace
}  // namespace uscope::test
