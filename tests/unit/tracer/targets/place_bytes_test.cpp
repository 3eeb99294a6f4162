// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// This process maps a file as code, and changes a byte of its copy.
#include "tracer/targets/place_bytes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/unique_fd.h"
#include "tests/support/temporary_folder.h"
#include "tracer/process/process_list.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kPages = 8192;

TEST(PlaceBytes, AChangedCopyOfThePageIsRefused) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("code", std::string(kPages, '\x90'));
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  void* code = mmap(nullptr, kPages, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
  ASSERT_NE(code, MAP_FAILED);
  const auto reason = [&](std::uint64_t place, bool as_return) {
    std::vector<TargetAnswer> answers(1);
    TargetMatch& match = answers[0].matches.emplace_back();
    match.probe.path = path;
    match.probe.places = {as_return ? 0 : place};
    if (as_return) match.probe.returns = {place};
    refuse_changed_code(nullptr, answers);
    EXPECT_EQ(match.can_be_forced, !match.why_not.empty());
    return match.why_not;
  };
  auto* bytes = static_cast<volatile unsigned char*>(code);
  EXPECT_EQ(bytes[100], 0x90);
  EXPECT_EQ(reason(100, false), "");
  ASSERT_EQ(mprotect(code, kPages, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
  bytes[100] = 0x90;  // a copy that is equal
  EXPECT_EQ(reason(100, false), "");
  bytes[100] = 0xcc;  // a breakpoint that is not the kernel's
  // It would end there now; but a handler may come later, or its end be what it is there for.
  EXPECT_NE(reason(100, false).find(" has a breakpoint of its own there"), std::string::npos) << reason(100, false);
  bytes[100] = 0xc3;
  EXPECT_EQ(reason(100, false), "process " + std::to_string(getpid()) + " (" + name_of(getpid()) +
                                    ") has changed its code there, so the file does not have what it executes");
  EXPECT_NE(reason(100, true), "");
  EXPECT_EQ(reason(101, false), "");
  EXPECT_EQ(reason(5000, false), "");
  munmap(code, kPages);
  EXPECT_EQ(reason(100, false), "");
}

}  // namespace
}  // namespace uscope::tracer
