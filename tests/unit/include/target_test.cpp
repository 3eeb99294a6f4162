// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which script an interpreter was told to interpret, by its arguments as the kernel keeps them.
#include "uscope/target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace uscope::include {
namespace {

using namespace std::string_view_literals;

// As both backends do it: a NUL behind what was read, then byte by byte. "" = none was found.
std::string script_of(std::string_view arguments) {
  std::array<char, USC_ARGUMENT_BYTES> text{};
  text.fill('x');  // what an earlier look has left behind
  const std::size_t bytes = std::min(arguments.size(), text.size() - 1);
  std::copy_n(arguments.begin(), bytes, text.begin());
  text[bytes] = 0;
  usc_argument_scan scan{};
  for (__u32 i = 0; i <= bytes && usc_scan_argument(&scan, text.data(), i) == 0; i++) {
  }
  return scan.found != 0 ? std::string(text.data() + scan.base) : "";
}

TEST(Target, TheScriptIsTheFirstArgumentThatIsNoOption) {
  EXPECT_EQ(script_of("sh\0run.sh\0"sv), "run.sh");
  EXPECT_EQ(script_of("/bin/sh\0-e\0/srv/jobs/run.sh\0--now\0"sv), "run.sh");
  EXPECT_EQ(script_of("python3\0-u\0-B\0serve.py\0"sv), "serve.py");
  EXPECT_EQ(script_of("-sh\0a/b\0"sv), "b");
}

TEST(Target, OneBehindTooManyOptionsIsNotFound) {
  EXPECT_EQ(script_of("perl\0-w\0-T\0-s\0job.pl\0"sv), "");
}

TEST(Target, WithoutOneNothingIsFound) {
  EXPECT_EQ(script_of(""sv), "");
  EXPECT_EQ(script_of("bash\0"sv), "");
  EXPECT_EQ(script_of("bash"sv), "");
  EXPECT_EQ(script_of("bash\0-i\0"sv), "");
  EXPECT_EQ(script_of("bash\0\0run.sh\0"sv), "");
  EXPECT_EQ(script_of("bash\0scripts/\0"sv), "");
}

TEST(Target, AnArgumentThatIsCutOffEndsWhereItWasCut) {
  EXPECT_EQ(script_of("sh\0run"sv), "run");
  EXPECT_EQ(script_of(std::string("sh\0", 3) + std::string(2000, 'a')), std::string(USC_ARGUMENT_BYTES - 1 - 3, 'a'));
}

}  // namespace
}  // namespace uscope::include
