// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tests/unit/analyzer/hung_store.h"
#include "tests/unit/cli/pages/page_data.h"

namespace uscope::test {
namespace {

class DeadlockPage : public CommandTest {
 protected:
  // The data of the page of a trace, for which `uscope deadlock` ends with `status`.
  nlohmann::json page(const HungTrace& trace, int status) {
    write_hung(folder_ / "hung.db", trace);
    const Finished run = uscope({"deadlock", "hung.db", "--html", "page.html", "--force"});
    EXPECT_EQ(run.code, status) << run.err;
    EXPECT_EQ(run.out, "");
    const std::string text = read_file(folder_ / "page.html");
    expect_page(text);
    return page_data(text);
  }
};

TEST_F(DeadlockPage, HasTheDiagnosisAndItsPicture) {
  HungTrace trace{.threads = {joiner(100, "main", 101), mutex_waiter(101, "left", 0x5000, 102),
                              mutex_waiter(102, std::string(kHostile), 0x6000, 101)}};
  trace.threads[1].stack = under("pthread_mutex_lock", "left_then_right");
  const auto data = page(trace, 1);
  EXPECT_EQ(data["target"], "hung.db");
  EXPECT_EQ(data["diagnosis"]["verdict"], "deadlock");
  const auto& nodes = data["picture"]["nodes"];
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0]["tids"], nlohmann::json{101});
  EXPECT_EQ(nodes[0]["circle"], true);
  EXPECT_EQ(nodes[0]["waits_for"], "a mutex");
  EXPECT_EQ(nodes[0]["address"], "0x5000");
  EXPECT_EQ(nodes[0]["stack"][nodes[0]["at"].get<std::size_t>()][0], "left_then_right");
  EXPECT_EQ(nodes[1]["name"], "\\x1b[31mred\\x0a\\xff;</script>");
  EXPECT_EQ(data["picture"]["edges"].size(), 3U);
}

TEST_F(DeadlockPage, TheExitStatusIsTheVerdict) {
  const auto data = page({.threads = {mutex_waiter(101, "a", 0x5000, 102), running(102, "b")}}, 0);
  EXPECT_EQ(data["diagnosis"]["verdict"], "none");
  EXPECT_EQ(data["picture"]["nodes"][1]["what"], "computes");
  const Finished itself = uscope({"deadlock", "hung.db", "--html", "hung.db", "--force"});
  EXPECT_EQ(itself.code, 2);
  EXPECT_NE(itself.err.find("the output is the trace itself"), std::string::npos) << itself.err;
}

}  // namespace
}  // namespace uscope::test
