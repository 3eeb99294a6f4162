// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/redactor.h"

#include <gtest/gtest.h>

namespace uscope {
namespace {

TEST(Redactor, ComparesWholeTexts) {
  const Redactor redactor({"/home/*", "*password*", "id_?sa"});
  EXPECT_TRUE(redactor.hides("/home/a/b/.c"));
  EXPECT_FALSE(redactor.hides("x/home/a"));
  EXPECT_TRUE(redactor.hides("--password=x"));
  EXPECT_TRUE(redactor.hides(std::string_view("a\0password", 10)));
  EXPECT_TRUE(redactor.hides("id_rsa"));
  EXPECT_FALSE(redactor.hides("id_rsa.pub"));
  EXPECT_FALSE(redactor.hides(""));
}

TEST(Redactor, HidesWhatIsCutWhereThereIsAnyPattern) {
  EXPECT_TRUE(Redactor({"x"}).hides("abc", true));
  EXPECT_FALSE(Redactor().hides("abc", true));
}

TEST(Redactor, OfAListEachTextByItself) {
  const Redactor redactor({"secret*"});
  EXPECT_EQ(redactor.redact_list(std::string_view("a\0secret1\0b\0", 12), false),
            std::string("a\0[redacted]\0b\0", 15));
  EXPECT_EQ(redactor.redact_list(std::string_view("a\0b", 3), true), std::string("a\0[redacted]", 12));
  EXPECT_EQ(redactor.redact_list("", true), "");
}

}  // namespace
}  // namespace uscope
