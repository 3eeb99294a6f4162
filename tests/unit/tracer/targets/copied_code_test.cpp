// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Processes that execute code of a file from where its probes are not.
#include "tracer/targets/copied_code.h"

#include <gtest/gtest.h>

#include <vector>

namespace uscope::tracer {
namespace {

const std::string kFile = "/usr/bin/node";
const std::vector<std::uint64_t> kPlaces{0x1500, 0x2500};

std::string why_not_hit(const std::string& maps, bool is_its_program = true) {
  return why_without_probes(maps, kFile, is_its_program, kPlaces);
}

constexpr const char* kWhole =
    "00400000-00401000 r--p 00000000 08:01 77       /usr/bin/node\n"
    "00401000-00403000 r-xp 00001000 08:01 77       /usr/bin/node\n"
    "00403000-00404000 rw-p 00003000 08:01 77       /usr/bin/node\n";

TEST(CopiedCode, AFileThatIsMappedAsUsualHasItsProbes) {
  EXPECT_EQ(why_not_hit(kWhole), "");
  EXPECT_EQ(why_not_hit(kWhole, false), "");
}

TEST(CopiedCode, ADeletedFileIsTheOneThatWasProbedByItsMapping) {
  EXPECT_EQ(why_not_hit("00401000-00403000 r-xp 00001000 08:01 77       /usr/bin/node (deleted)\n"), "");
}

TEST(CopiedCode, ACopyInThePlaceOfTheCodeHasNone) {
  constexpr const char* kCopied =
      "00400000-00401000 r--p 00000000 08:01 77       /usr/bin/node\n"
      "00401000-00402000 r-xp 00001000 08:01 77       /usr/bin/node\n"
      "00402000-00403000 r-xp 00000000 00:00 0 \n"
      "00403000-00404000 rw-p 00003000 08:01 77       /usr/bin/node\n";
  EXPECT_NE(why_not_hit(kCopied).find("a copy"), std::string::npos);
  EXPECT_NE(why_not_hit(kCopied, false).find("a copy"), std::string::npos);
}

TEST(CopiedCode, ASharedOrWritableMappingHasNoneEvenBesideAnotherOne) {
  for (const char* permissions : {"r-xs", "rwxp"})
    EXPECT_NE(why_not_hit(std::string(kWhole) + "7f0000000000-7f0000001000 " + permissions +
                          " 00002000 08:01 77       /usr/bin/node\n")
                  .find("shared or writable"),
              std::string::npos);
  EXPECT_EQ(why_not_hit(std::string(kWhole) + "7f0000000000-7f0000001000 r-xs 00003000 08:01 77       /usr/bin/node\n"),
            "")
      << "no place lies there";
}

TEST(CopiedCode, WhoReadsAFileExecutesNothingOfIt) {
  EXPECT_EQ(why_not_hit("7f0000000000-7f0000004000 r--p 00000000 08:01 77       /usr/bin/node\n", false), "");
  EXPECT_EQ(why_not_hit("7f0000000000-7f0000004000 rw-s 00000000 08:01 77       /usr/bin/node\n", false), "");
  EXPECT_EQ(why_not_hit("00401000-00403000 r-xp 00001000 08:01 78       /usr/bin/other\n", false), "");
}

TEST(CopiedCode, LinesThatAreNoMappingsAreLeftOut) {
  EXPECT_EQ(why_not_hit("what /usr/bin/node\n", false), "");
  EXPECT_EQ(why_not_hit("", false), "");
}

TEST(PathInItsRoot, IsThatOfTheProcess) {
  EXPECT_EQ(path_in_its_root("/proc/12/root/usr/bin/node"), "/usr/bin/node");
  EXPECT_EQ(path_in_its_root("/proc/self/root/usr/bin/node"), "/proc/self/root/usr/bin/node");
  EXPECT_EQ(path_in_its_root("/home/root/a"), "/home/root/a");
}

}  // namespace
}  // namespace uscope::tracer
