// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What /proc says of processes, taken apart: names that look like what the kernel adds to them.
#include "tracer/process/process_list.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace uscope::tracer {
namespace {

// A copy of `sleep` under some path, running.
class Sleeper {
 public:
  explicit Sleeper(const std::string& path, std::string name = "sleep") : Sleeper(path, path, std::move(name)) {}
  // Executed by a link to it.
  Sleeper(const std::string& path, const std::string& link, std::string name) : path_(path) {
    std::filesystem::copy_file("/usr/bin/sleep", path_);
    if (link != path) std::filesystem::create_symlink(path_, link);
    std::string time = "100";
    std::vector<char*> arguments{name.data(), time.data(), nullptr};
    EXPECT_EQ(posix_spawn(&pid_, link.c_str(), nullptr, nullptr, arguments.data(), environ), 0);
    // posix_spawn() returns in the exec, before the kernel has noted where the arguments are.
    while (command_line_of(pid()).empty() && kill(pid_, 0) == 0) usleep(1000);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    std::filesystem::remove(path_);
  }
  [[nodiscard]] std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }

 private:
  std::string path_;
  pid_t pid_ = 0;
};

class ProcessList : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  const std::string folder_ =
      std::filesystem::canonical(testing::TempDir()).string() + "/uscope-processes-" + std::to_string(getpid());
};

TEST_F(ProcessList, AProgramReallyNamedDeletedHasThatName) {
  const Sleeper sleeper(folder_ + "/sleep (deleted)", folder_ + "/other");
  EXPECT_EQ(executable_of(sleeper.pid()), folder_ + "/sleep (deleted)");
  EXPECT_TRUE(names_of(sleeper.pid()).has("sleep (deleted)"));
  EXPECT_FALSE(names_of(sleeper.pid()).has("sleep"));
}

// As redis-server is a link to redis-check-rdb: ps shows the link's name, and so does pgrep.
TEST_F(ProcessList, OneGoesByItsLinksNameAndByItsArgument) {
  const Sleeper sleeper(folder_ + "/real-sleeper", folder_ + "/linked", "named-so");
  const trace::ProcessNames names = names_of(sleeper.pid());
  EXPECT_EQ(names.path, folder_ + "/linked");
  EXPECT_EQ(executed_path_of(sleeper.pid()), folder_ + "/linked");
  EXPECT_EQ(names.executable, "real-sleeper");
  EXPECT_EQ(names.comm, "linked");
  EXPECT_EQ(names.title, "named-so");
  for (const char* name : {"real-sleeper", "linked", "named-so"}) EXPECT_TRUE(names.has(name)) << name;
  EXPECT_FALSE(names.has("sleep"));
}

TEST_F(ProcessList, ADeletedOneHasTheNameItHad) {
  const Sleeper plain(folder_ + "/sleep");
  const Sleeper marked(folder_ + "/nap (deleted)");
  std::filesystem::remove(folder_ + "/sleep");
  std::filesystem::remove(folder_ + "/nap (deleted)");
  EXPECT_EQ(executable_of(plain.pid()), folder_ + "/sleep");
  EXPECT_EQ(executable_of(marked.pid()), folder_ + "/nap (deleted)");
}

// Another link to it lives, and another file took a name that looks like the kernel's.
TEST_F(ProcessList, ALinkThatIsLeftChangesNothing) {
  const Sleeper sleeper(folder_ + "/sleep");
  std::filesystem::create_hard_link(folder_ + "/sleep", folder_ + "/other");
  std::filesystem::remove(folder_ + "/sleep");
  std::filesystem::copy_file("/usr/bin/true", folder_ + "/sleep (deleted)");
  EXPECT_EQ(executable_of(sleeper.pid()), folder_ + "/sleep");
}

TEST_F(ProcessList, MappingsHaveTheirPathsAsTheyAre) {
  const std::string path = folder_ + "/lib\n\\012 (deleted)";
  std::filesystem::copy_file(std::filesystem::canonical("/usr/lib/x86_64-linux-gnu/libz.so.1"), path);
  void* library = dlopen(path.c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto has = [&] {
    const auto all = executable_mappings_of(static_cast<std::uint32_t>(getpid()));
    return std::any_of(all.begin(), all.end(), [&](const ExecutableMapping& mapping) { return mapping.path == path; });
  };
  EXPECT_TRUE(has());
  std::filesystem::remove(path);
  EXPECT_TRUE(has());
  dlclose(library);
}

// Many of them end between the opening of their file and the reading of it.
TEST_F(ProcessList, AProcessThatEndsWhileItsNameIsReadHasNone) {
  const auto before = signal(SIGCHLD, SIG_IGN);  // nobody has to wait for them
  const std::string own = name_of(static_cast<std::uint32_t>(getpid()));
  for (int i = 0; i < 200; i++) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    ASSERT_GT(child, 0);
    std::string name = own;
    while (!name.empty()) {
      ASSERT_EQ(name, own);
      ASSERT_NO_THROW(name = name_of(static_cast<std::uint32_t>(child)));
    }
  }
  signal(SIGCHLD, before);
}

}  // namespace
}  // namespace uscope::tracer
