// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/plan/asked_kinds.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "uscope/record.h"

namespace uscope::query {
namespace {

using Texts = std::vector<std::string>;

AskedKinds asked_by(const std::string& where) {
  return AskedKinds("SELECT kind, count(*) AS n, kind AS k FROM v_event AS e WHERE " + where + " GROUP BY kind");
}

Texts beginnings(const std::string& where, std::uint32_t source = USC_SOURCE_UFUNCTION) {
  return asked_by(where).beginnings(source).value_or(Texts{"(any)"});
}

std::string admitted(const std::string& where, const Texts& names, std::uint32_t source = USC_SOURCE_UFUNCTION) {
  const auto admits = asked_by(where).admits(source, names);
  if (!admits) return admits.error().what;
  std::string all;
  for (std::size_t i = 0; i < names.size(); i++)
    if ((*admits)[i]) all += (all.empty() ? "" : " ") + names[i];
  return all;
}

TEST(AskedKinds, WhereSaysHowTheirNamesBegin) {
  EXPECT_EQ(beginnings("class = 'ufunction' AND kind = 'libc.so.6:malloc'"), Texts{"libc.so.6:malloc"});
  EXPECT_EQ(beginnings("kind GLOB 'libc*:malloc*' AND a0 > 5"), Texts{"libc*"});
  EXPECT_EQ(beginnings("e.kind GLOB 'libc.so.6:mal[lk]oc'"), Texts{"libc.so.6:mal*"});
  EXPECT_EQ(beginnings("(kind IN ('a:x', 'b:y*'))"), (Texts{"a:x", "b:y*"}));
  EXPECT_EQ(beginnings("'a:x' = kind OR kind IS 'b:x'"), (Texts{"a:x", "b:x"}));
  EXPECT_EQ(beginnings("k = 'a:x'"), Texts{"a:x"});
  EXPECT_EQ(beginnings("class = 'sample' OR class = 'ufunction' AND kind GLOB 'a:*'"), Texts{"a:*"});
  EXPECT_EQ(beginnings("class = 'sample' OR class = 'ufunction' AND kind GLOB 'a:*'", USC_SOURCE_SAMPLE),
            Texts{"(any)"});
  for (const char* where : {"kind LIKE 'a:%'", "kind NOT IN ('a:x')", "kind <> 'a:x'", "NOT kind = 'a:x'",
                            "kind = 'a:x' OR pid = 5", "kind = process", "kind = 'a:x' COLLATE NOCASE", "a0 = 5",
                            "kind NOT GLOB 'a*'", "kind BETWEEN 'a' AND 'b'", "kind IN ('a:x', NULL)"})
    EXPECT_EQ(beginnings(where), Texts{"(any)"}) << where;
}

TEST(AskedKinds, ThoseAreAskedForThatWhereDoesNotRuleOut) {
  const Texts names{"libc.so.6:malloc", "libc.so.6:free", "libssl.so.3:SSL_read", "x:std::sort<int>(int*)"};
  EXPECT_EQ(admitted("kind GLOB 'libc*:malloc*'", names), "libc.so.6:malloc");
  EXPECT_EQ(admitted("kind LIKE '%ssl%' OR kind GLOB '*(int[*])'", names),
            "libssl.so.3:SSL_read x:std::sort<int>(int*)");
  EXPECT_EQ(admitted("kind NOT LIKE 'libc%'", names), "libssl.so.3:SSL_read x:std::sort<int>(int*)");
  EXPECT_EQ(admitted("length(kind) = 14 AND a0 IS NOT NULL", names), "libc.so.6:free");
  EXPECT_EQ(admitted("substr(k, 1, 4) = 'libs'", names), "libssl.so.3:SSL_read");
  // What follows from other columns may hold.
  EXPECT_EQ(admitted("kind = 'libc.so.6:free' AND (pid = 5 OR dur_ns IS NULL) AND stack_id IS NOT NULL", names),
            "libc.so.6:free");
  EXPECT_EQ(admitted("kind = 'libc.so.6:free' OR random() = 5", {"a:b"}), "a:b");
  EXPECT_EQ(admitted("class = 'usdt' AND kind GLOB '*'", names), "");
  EXPECT_EQ(admitted("class = 'usdt' AND kind GLOB '*:free'", names, USC_SOURCE_USDT), "libc.so.6:free");
  EXPECT_EQ(admitted("NOT (kind GLOB '*:f*' OR class = 'usdt')", {"a:f", "a:g"}), "a:g");
}

TEST(AskedKinds, AQuestionThatIsNoSelectOfVEventCannotTell) {
  EXPECT_FALSE(AskedKinds("SELECT count(*) FROM v_event").are_known());
  const AskedKinds with("WITH e AS (SELECT * FROM v_event WHERE class = 'usdt') SELECT count(*) FROM e");
  EXPECT_FALSE(with.are_known());
  EXPECT_FALSE(with.beginnings(USC_SOURCE_USDT));
}

}  // namespace
}  // namespace uscope::query
