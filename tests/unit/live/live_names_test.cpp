// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/live_names.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <signal.h>

#include <chrono>
#include <fstream>

extern "C" __attribute__((noinline, visibility("default"))) int named_for_top(int value) {
  return value + 1;
}

namespace uscope::test {
namespace {

using live::LiveNames;
using std::chrono::seconds;

constexpr trace::FileId kFile(7);
constexpr trace::FileId kOther(8);

class LiveNamesTest : public testing::Test {
 protected:
  // This program by its descriptor only: the path leads nowhere.
  LiveNamesTest() {
    const UniqueFd own(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    names_->add_file({kFile, "/nowhere", {}}, {KeptCopies().add(own.get())});
  }

  // The ELF address of a function of this program.
  static std::uint64_t address() {
    Dl_info info{};
    void* map = nullptr;
    EXPECT_NE(dladdr1(reinterpret_cast<const void*>(&named_for_top), &info, &map, RTLD_DL_LINKMAP), 0);
    return reinterpret_cast<std::uintptr_t>(&named_for_top) - static_cast<const link_map*>(map)->l_addr;
  }

  static pid_t child() {
    pid_t pid = 0;
    std::ifstream("/proc/thread-self/children") >> pid;
    return pid;
  }

  static std::string status(pid_t pid, const std::string& key) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with(key + ":")) return line.substr(line.find_first_not_of(" \t", key.size() + 1));
    return "";
  }

  std::unique_ptr<LiveNames> names_ = std::move(*LiveNames::start());
};

TEST_F(LiveNamesTest, ComeFromAnotherProcess) {
  EXPECT_EQ(names_->ask(kFile, address(), true), nullptr);
  names_->wait(seconds(60));
  const LiveNames::Functions* functions = names_->ask(kFile, address(), true);
  ASSERT_NE(functions, nullptr);
  EXPECT_EQ(functions->back().name, "named_for_top");
  EXPECT_EQ(functions->back().origin, trace::FunctionOrigin::kOwn);
  EXPECT_EQ(functions->back().role, trace::FunctionRole::kNone);
  EXPECT_EQ(names_->ask(kOther, 0x10, true), nullptr);
  names_->wait(seconds(60));
  EXPECT_NE(names_->ask(kOther, 0x10, true), nullptr);
  EXPECT_FALSE(names_->trouble());
}

TEST_F(LiveNamesTest, WhichHasGivenUpItsPrivileges) {
  ASSERT_GT(child(), 0);
  EXPECT_EQ(status(child(), "NoNewPrivs"), "1");
  EXPECT_EQ(status(child(), "Seccomp"), "2");
  const std::uint64_t capabilities = std::stoull(status(child(), "CapEff"), nullptr, 16);
  constexpr std::uint64_t kWritingForAUser = 1U << 1U | 1U << 3U;  // CAP_DAC_OVERRIDE, CAP_FOWNER
  EXPECT_EQ(capabilities & ~kWritingForAUser, 0U);
}

TEST_F(LiveNamesTest, WhoseEndIsTold) {
  ASSERT_GT(child(), 0);
  kill(child(), SIGKILL);
  (void)names_->ask(kFile, address(), true);
  names_->wait(seconds(60));
  EXPECT_EQ(names_->ask(kFile, address(), true), nullptr);
  ASSERT_TRUE(names_->trouble());
}

}  // namespace
}  // namespace uscope::test
