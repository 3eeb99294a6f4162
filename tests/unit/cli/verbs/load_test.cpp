// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope load`, from the outside: a raw trace in, a store out that the readers understand.
#include <nlohmann/json.hpp>

#include "tests/unit/cli/run_command.h"
#include "tests/unit/trace/raw_trace.h"

namespace uscope::test {
namespace {

using Json = nlohmann::json;

// One process with one failed openat; tracing did not end in order.
void write_interrupted(const std::filesystem::path& path) {
  RawTrace trace(path, 1);
  trace.task({.pid = 4321, .tid = 4321, .flags = USC_TASK_PROCESS | USC_TASK_LAUNCHED, .name = "loaded"});
  trace.event({.entry = uscope::kStart + 3000, .end = uscope::kStart + 5000, .result = -2, .nr = 257, .image = 0});
}

TEST_F(CommandTest, LoadMakesAStoreOfARawTrace) {
  write_interrupted(folder_ / "trace.raw");
  const std::string text = output({"load", "trace.raw", "-o", "loaded.db", "--format", "json"});
  expect_schema(text, "load");
  const Json loaded = Json::parse(text);
  EXPECT_EQ(loaded["output"], "loaded.db");
  EXPECT_EQ(loaded["events"], 1);
  EXPECT_EQ(loaded["processes"], 1);
  EXPECT_EQ(loaded["complete"], false);
  const Json events = Json::parse(output({"events", "loaded.db", "--format", "json"}))["events"];
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]["pid"], 4321);
  EXPECT_EQ(events[0]["ts_ns"], 3000);
  EXPECT_EQ(events[0]["dur_ns"], 2000);
  EXPECT_EQ(events[0]["error"], "ENOENT");
  EXPECT_NE(output({"load", "trace.raw", "-o", "again.db"}).find("1 event, "), std::string::npos);
}

TEST_F(CommandTest, LoadTellsWhatDebuginfodGave) {
  write_interrupted(folder_ / "trace.raw");
  // Nothing in this trace needs a name: no server is asked.
  const std::string text =
      output({"load", "trace.raw", "-o", "loaded.db", "--debuginfod=http://127.0.0.1:1", "--format", "json"});
  expect_schema(text, "load");
  const Json figures = Json::parse(text)["debuginfod"];
  EXPECT_EQ(figures["asked"], 0);
  EXPECT_EQ(figures["problem"], "");
  EXPECT_NE(output({"load", "--debuginfod=http://127.0.0.1:1", "trace.raw", "-o", "again.db"})
                .find("debuginfod: 0 of 0 debug files found\n"),
            std::string::npos);
}

TEST_F(CommandTest, LoadRefusesDebuginfodWithoutAServer) {
  write_interrupted(folder_ / "trace.raw");
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
