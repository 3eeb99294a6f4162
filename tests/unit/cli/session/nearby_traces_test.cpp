// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/nearby_traces.h"

#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "store/files/trace_file.h"
#include "tests/unit/cli/run_command.h"
#include "tests/unit/trace/raw_trace.h"
#include "uscope/record.h"

namespace uscope::test {
namespace {

namespace fs = std::filesystem;
using cli::look_for_traces;

class NearbyTracesTest : public CommandTest {
 protected:
  void copy_with(const std::string& from, const std::string& to, std::size_t at, const std::string& bytes) const {
    std::string file = read_file(folder_ / from);
    file.replace(at, bytes.size(), bytes);
    std::ofstream(folder_ / to, std::ios::binary) << file;
  }
};

TEST_F(NearbyTracesTest, TellsWhatIsOfAnotherVersion) {
  constexpr std::size_t kUserVersion = 60;  // https://www.sqlite.org/fileformat2.html
  constexpr std::size_t kRecordAbi = 12;    // struct usc_raw_header
  RawTrace raw(folder_ / "now.raw", 1);
  raw.totals();
  raw.close();
  copy_with("sample.db", "newer.db", kUserVersion, std::string("\0\0\1\0", 4));
  copy_with("sample.db", "older.db", kUserVersion, std::string("\0\0\0\1", 4));
  copy_with("now.raw", "newer.raw", kRecordAbi, std::string("\0\1\0\0", 4));
  std::ofstream(folder_ / "cut.raw", std::ios::binary) << read_file(folder_ / "now.raw").substr(0, kRecordAbi);
  std::ofstream(folder_ / "notes.txt") << "no trace";
  fs::create_symlink("newer.db", folder_ / "link.db");
  ASSERT_EQ(mkfifo((folder_ / "pipe.db").c_str(), 0600), 0);
  fs::create_directory(folder_ / "deeper");
  copy_with("sample.db", "deeper/newer.db", kUserVersion, std::string("\0\0\1\0", 4));

  const fs::path folder = folder_ / ".";
  const auto found = look_for_traces({folder, folder / "deeper" / "..", "/nowhere"});
  EXPECT_EQ(found.folders, (std::vector<std::string>{folder.string()}));
  EXPECT_TRUE(found.all);
  EXPECT_EQ(found.readable, 2U);  // sample.db, now.raw
  std::string told;
  for (const auto& trace : found.unreadable)
    told += fs::path(trace.path).filename().string() + (trace.is_raw ? " raw " : " database ") +
            std::to_string(trace.version) + (trace.is_newer ? " newer\n" : " older\n");
  EXPECT_EQ(told,
            "cut.raw raw 0 older\nnewer.db database 256 newer\nnewer.raw raw 256 newer\nolder.db database 1 older\n");
}

TEST_F(NearbyTracesTest, DoctorSaysIt) {
  const Finished run = uscope({"doctor", "--format", "json"});
  EXPECT_LE(run.code, 1);
  expect_schema(run.out, "doctor");
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["installation"]["program"]["path"], fs::canonical(paths::kUscope).string());
  EXPECT_EQ(json["installation"]["origin"], "build_tree");
  EXPECT_EQ(json["installation"]["tapset"]["path"], (fs::path(paths::kUscope).parent_path() / "stap/tapset").string());
  EXPECT_GE(json["traces"]["readable"], 1);
  const std::string text = uscope({"doctor"}).out;
  EXPECT_NE(text.find("\ninstallation: uscope "), std::string::npos) << text;
  EXPECT_NE(text.find("\ntraces: "), std::string::npos) << text;
}

}  // namespace
}  // namespace uscope::test
