// `uscope load`, from the outside: a raw trace in, a store out that the readers understand.
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/unit/cli/run_command.h"
#include "trace/raw_writer.h"

namespace uscope::test {
namespace {

using nlohmann::json;

usc_record head(usc_record_type type, std::uint32_t seq, std::uint64_t time) {
  usc_record record{};
  record.type = type;
  record.cpu = 0;
  record.seq = seq;
  record.task = 1;
  record.time = time;
  return record;
}

// One process with one failed openat.
void write_raw(const std::filesystem::path& path) {
  usc_raw_header header{};
  header.start_ns = static_cast<std::uint64_t>(kStart);
  header.cpus = 1;
  auto writer = trace::RawWriter::create(path, header);
  ASSERT_TRUE(writer) << writer.error().what;
  usc_task task{};
  task.head = head(USC_RECORD_TASK, 0, kStart);
  task.process = 1;
  task.pid = task.tid = task.ns_pid = task.ns_tid = 4321;
  task.start_ns = kStart;
  task.flags = USC_TASK_PROCESS | USC_TASK_LAUNCHED;
  std::strcpy(task.name, "loaded");
  ASSERT_TRUE(writer->append_fixed(task));
  usc_event event{};
  event.head = head(USC_RECORD_EVENT, 1, kStart + 5000);
  event.entry_ns = kStart + 3000;
  event.result = -2;
  event.nr = 257;
  event.how = USC_HOW_RETURNED;
  ASSERT_TRUE(writer->append_fixed(event));
  ASSERT_TRUE(writer->close());
}

TEST_F(CommandTest, LoadMakesAStoreOfARawTrace) {
  write_raw(folder_ / "trace.raw");
  const std::string text = output({"load", "trace.raw", "-o", "loaded.db", "--format", "json"});
  expect_schema(text, "load");
  const json loaded = json::parse(text);
  EXPECT_EQ(loaded["output"], "loaded.db");
  EXPECT_EQ(loaded["events"], 1);
  EXPECT_EQ(loaded["processes"], 1);
  EXPECT_EQ(loaded["complete"], false);
  const json events = json::parse(output({"events", "loaded.db", "--format", "json"}))["events"];
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]["pid"], 4321);
  EXPECT_EQ(events[0]["ts_ns"], 3000);
  EXPECT_EQ(events[0]["dur_ns"], 2000);
  EXPECT_EQ(events[0]["error"], "ENOENT");
  EXPECT_NE(output({"load", "trace.raw", "-o", "again.db"}).find("1 event, "), std::string::npos);
}

TEST_F(CommandTest, LoadTellsWhatDebuginfodGave) {
  write_raw(folder_ / "trace.raw");
  // Nothing in this trace needs a name: no server is asked.
  const std::string text =
      output({"load", "trace.raw", "-o", "loaded.db", "--debuginfod=http://127.0.0.1:1", "--format", "json"});
  expect_schema(text, "load");
  const json figures = json::parse(text)["debuginfod"];
  EXPECT_EQ(figures["asked"], 0);
  EXPECT_EQ(figures["problem"], "");
  EXPECT_NE(output({"load", "--debuginfod=http://127.0.0.1:1", "trace.raw", "-o", "again.db"})
                .find("debuginfod: 0 of 0 debug files found\n"),
            std::string::npos);
}

TEST_F(CommandTest, LoadRefusesDebuginfodWithoutAServer) {
  write_raw(folder_ / "trace.raw");
  unsetenv("DEBUGINFOD_URLS");
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"--debuginfod", "no debuginfod server is known"},
      {"--debuginfod=", "no debuginfod server is known"},
      {"--debuginfod=gopher://127.0.0.1", "not a URL of a debuginfod server: gopher://127.0.0.1"},
      {"--debuginfod-timeout=5s", "--debuginfod-timeout requires --debuginfod"}};
  for (const auto& [option, message] : wrong) {
    const Finished run = uscope({"load", option, "trace.raw", "-o", "loaded.db"});
    EXPECT_EQ(run.code, 2) << option;
    EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "loaded.db")) << option;
  }
  for (const char* timeout : {"0", "2h", "soon"})
    EXPECT_EQ(uscope({"load", "--debuginfod=http://127.0.0.1:1", "--debuginfod-timeout", timeout, "trace.raw", "-o",
                      "loaded.db"})
                  .code,
              2);
}

TEST_F(CommandTest, LoadRefusesWhatIsNoRawTrace) {
  std::ofstream(folder_ / "text.raw") << std::string(5000, 'x');
  for (const char* file : {"missing.raw", "text.raw", "."}) {
    const Finished run = uscope({"load", file, "-o", "loaded.db"});
    EXPECT_EQ(run.code, 2) << file;
    EXPECT_EQ(run.out, "") << file;
    EXPECT_TRUE(run.err.starts_with("uscope: ")) << run.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "loaded.db")) << file;
  }
}

}  // namespace
}  // namespace uscope::test
