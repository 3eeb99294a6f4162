// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/type_text.h"

#include <gtest/gtest.h>

namespace uscope {
namespace {

TEST(TypeText, IsAsCWritesIt) {
  EXPECT_EQ(TypeText().of("int"), "int");
  TypeText text;
  text.point("*");
  text.qualify("const");
  EXPECT_EQ(text.of("char"), "const char *");
  text.point("*");
  EXPECT_EQ(text.of("char"), "char *const *");
  text.point("&");
  text.qualify("volatile");
  text.qualify("const");
  text.qualify("const");
  EXPECT_EQ(text.of("struct stat"), "volatile const struct stat &*const *");
}

TEST(TypeText, APointersOwnQualifierStandsBehindIt) {
  TypeText text;
  text.qualify("const");
  text.point("*");
  EXPECT_EQ(text.of("void"), "void *const");
}

}  // namespace
}  // namespace uscope
