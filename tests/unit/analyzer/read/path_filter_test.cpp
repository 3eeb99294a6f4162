// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What --path finds, and what is offered where it finds nothing.
#include "analyzer/read/path_filter.h"

#include <gtest/gtest.h>

#include "analyzer/read/no_match.h"
#include "tests/unit/analyzer/sample_trace.h"

namespace uscope::analyzer {
namespace {

using Names = std::vector<std::string>;

TEST(PathFilter, AGlobWithoutASlashMatchesBaseNames) {
  EXPECT_TRUE(path_matches({"out.txt"}, "/tmp/x/out.txt"));
  EXPECT_TRUE(path_matches({"o?t.*"}, "/tmp/x/out.txt"));
  EXPECT_TRUE(path_matches({"none", "out.txt"}, "out.txt"));
  EXPECT_TRUE(path_matches({"/tmp/*"}, "/tmp/x/out.txt"));
  EXPECT_TRUE(path_matches({"*x/out*"}, "/tmp/x/out.txt"));
  EXPECT_TRUE(path_matches({"pipe"}, "pipe"));
  EXPECT_TRUE(path_matches({"x.sock"}, "unix:/run/x.sock"));
  EXPECT_TRUE(path_matches({"*:80"}, "socket:[to inet:127.0.0.1:80]"));
  EXPECT_TRUE(path_matches({"*to inet:127.0.0.1:80*"}, "socket:[to inet:127.0.0.1:80]"));
  EXPECT_TRUE(path_matches({"127.0.0.1:80"}, "socket:[to inet:127.0.0.1:80]"));
  EXPECT_TRUE(path_matches({"@name"}, "socket:[at unix:@name]"));
  EXPECT_TRUE(path_matches({"unix:/run/x.sock"}, "socket:[at unix:/run/x.sock]"));
  EXPECT_TRUE(path_matches({"x.sock"}, "socket:[at unix:/run/x.sock]"));
  EXPECT_TRUE(path_matches({"socket:[[]pair]"}, "socket:[pair]"));
  EXPECT_FALSE(path_matches({"*:8"}, "socket:[to inet:127.0.0.1:80]"));
  EXPECT_FALSE(path_matches({"out"}, "/tmp/x/out.txt"));
  EXPECT_FALSE(path_matches({"x/out.txt"}, "/tmp/x/out.txt"));
  EXPECT_FALSE(path_matches({}, "/tmp/x/out.txt"));
}

TEST(PathFilter, NearNamesAreOffered) {
  const auto near = [](const std::string& glob) {
    NearPaths found({glob});
    for (const char* name : {"/tmp/x/out.txt", "/tmp/x/out.txt", "/etc/passwd", "/srv/output", "pipe"}) found.add(name);
    return found.found();
  };
  EXPECT_EQ(near("x/out.txt"), Names{"/tmp/x/out.txt"});  // the folder is a relative one
  EXPECT_EQ(near("/srv/*.txt"), Names{"/tmp/x/out.txt"});
  EXPECT_EQ(near("paswd"), Names{"/etc/passwd"});
  EXPECT_EQ(near("/nothing/like/it"), Names{});
  EXPECT_EQ(no_such_path({"paswd"}, near("paswd")),
            "no name in the trace matches --path paswd; near it is /etc/passwd");
  EXPECT_EQ(no_such_path({"q"}, {}), "no name in the trace matches --path q");
}

class NoMatch : public test::SampleTrace {
 protected:
  Names why(const EventFilter& filter) {
    const auto database = open();
    const auto catalog = read_catalog(database);
    EXPECT_TRUE(catalog);
    auto reasons = why_none_match(database, *catalog, filter);
    EXPECT_TRUE(reasons) << reasons.error().what;
    return reasons ? *reasons : Names();
  }
};

TEST_F(NoMatch, RelativesOfCallsAreNamedWithTheirCounts) {
  EXPECT_EQ(why({.calls = Names{"open"}}), Names{"the trace has no open; related calls in it: openat (4)"});
  EXPECT_EQ(why({.calls = Names{"preadv", "creat"}}),
            Names{"the trace has none of these calls; related calls in it: openat (4), read (4)"});
  EXPECT_EQ(why({.calls = Names{"fsync"}}), Names{"the trace has no fsync"});
  EXPECT_EQ(why({.calls = Names{"open", "read"}}), Names{});  // another filter is the reason
}

TEST_F(NoMatch, NamesNearAPathAreNamed) {
  EXPECT_EQ(why({.paths = {"etc/passwd"}}),
            Names{"no name in the trace matches --path etc/passwd; near it is /etc/passwd"});
  EXPECT_EQ(why({.paths = {"passwd"}}), Names{});
  EXPECT_EQ(why({.calls = Names{"fsync"}, .paths = {"/none"}}).size(), 2U);
}

}  // namespace
}  // namespace uscope::analyzer
