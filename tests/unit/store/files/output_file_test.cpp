// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/files/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "store/db/database.h"
#include "tests/unit/trace/raw_trace.h"

namespace uscope::store {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_ / "out");
    path_ = folder_ / "out" / "a.db";
  }

  static std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void put(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  static void put_database(const fs::path& path) {
    auto writer = DatabaseWriter::create(path);
    ASSERT_TRUE(writer) << writer.error().what;
    ASSERT_TRUE(writer->commit());
  }

  [[nodiscard]] std::string find_error(OutputKind kind = OutputKind::kDatabase, bool force = false) const {
    auto place = OutputPlace::find(path_, kind, force);
    return place ? "found" : place.error().what + " / " + place.error().remedy;
  }

  // A file in the making that holds a word.
  static OutputFile begin(const OutputPlace& place) {
    auto file = place.begin();
    EXPECT_TRUE(file) << file.error().what;
    EXPECT_EQ(write(file->fd(), "secret", 6), 6);
    return std::move(*file);
  }
  [[nodiscard]] OutputPlace place(OutputKind kind = OutputKind::kDatabase, bool force = false) const {
    auto found = OutputPlace::find(path_, kind, force);
    if (!found) ADD_FAILURE() << found.error().what;
    return *found;
  }

  test::TemporaryFolder folder_;
  fs::path path_;
};

TEST_F(OutputFileTest, AFileGetsItsNameWhenItIsWhole) {
  auto file = begin(place());
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_EQ(text_of(folder_ / "out" / "a.db.part"), "secret");
  auto done = file.commit();
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(text_of(path_), "secret");
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms(0600));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "out"), fs::directory_iterator()), 1);
}

TEST_F(OutputFileTest, OneThatIsNotCommittedIsRemoved) {
  begin(place());
  EXPECT_TRUE(fs::is_empty(folder_ / "out"));
  auto file = begin(place());
  file.keep_file();
  { const OutputFile ended = std::move(file); }
  EXPECT_EQ(text_of(folder_ / "out" / "a.db.part"), "secret");
}

TEST_F(OutputFileTest, OnlyTracesOfTheSameKindAreReplaced) {
  const std::string raw_magic = [] {
    const std::uint64_t magic = USC_RAW_MAGIC;
    return std::string(reinterpret_cast<const char*>(&magic), sizeof(magic));
  }();
  const std::vector<std::pair<std::string, std::string>> files{
      {"", "an empty file"},
      {"precious", "no trace of uscope's"},
      {raw_magic + std::string(200, 'x'), "a raw trace of uscope's"},
      {"SQLite format 3" + std::string(100, '\0'), "a database, but not one of uscope's"}};
  for (const auto& [text, what] : files) {
    put(path_, text);
    EXPECT_NE(find_error().find("exists, and is " + what + " / --force replaces it"), std::string::npos)
        << find_error();
    EXPECT_NE(find_error(OutputKind::kText).find("choose another place with -o"), std::string::npos) << what;
    EXPECT_NE(find_error(OutputKind::kPage).find("choose another place with --html"), std::string::npos) << what;
    EXPECT_EQ(find_error(OutputKind::kRawTrace) == "found", what.find("raw trace") != std::string::npos);
    EXPECT_EQ(find_error(OutputKind::kDatabase, true), "found");
    EXPECT_EQ(text_of(path_), text);
  }
  fs::remove(path_);
  put_database(path_);
  EXPECT_TRUE(place().replaces());
  EXPECT_NE(find_error(OutputKind::kText), "found");
  auto file = begin(place());
  ASSERT_TRUE(file.commit());
  EXPECT_EQ(text_of(path_), "secret");
}

TEST_F(OutputFileTest, TheDatabaseBeforeIsKept) {
  const fs::path older = folder_ / "out" / "a.db.old";
  EXPECT_EQ(place().older_name(), "");
  put_database(path_);
  const std::string first = text_of(path_);
  EXPECT_EQ(place().older_name(), older.string());
  ASSERT_TRUE(begin(place()).commit());
  EXPECT_EQ(text_of(path_), "secret");
  EXPECT_EQ(text_of(older), first);
  EXPECT_EQ(fs::hard_link_count(older), 1U);

  // The one before that is given up.
  fs::remove(path_);
  put_database(path_);
  put(older, first + "more");
  const std::string second = text_of(path_);
  ASSERT_TRUE(begin(place()).commit());
  EXPECT_EQ(text_of(older), second);

  // By a link: beside the file, not beside the link.
  fs::remove(path_);
  put_database(path_);
  fs::create_symlink("out/a.db", folder_ / "link.db");
  auto by_link = OutputPlace::find(folder_ / "link.db", OutputKind::kDatabase);
  ASSERT_TRUE(by_link);
  EXPECT_EQ(by_link->older_name(), older.string());
}

// Whatever else has the name of the older database is as safe as what has the database's own name.
TEST_F(OutputFileTest, NothingElseGivesWayToTheDatabaseBefore) {
  const fs::path older = folder_ / "out" / "a.db.old";
  put_database(path_);
  const std::string first = text_of(path_);
  put(older, "precious");
  EXPECT_NE(
      find_error().find("a.db exists, and cannot be kept as " + older.string() + ", which is no trace of uscope's"),
      std::string::npos)
      << find_error();
  EXPECT_EQ(find_error(OutputKind::kDatabase, true), "found");
  fs::remove(older);
  fs::create_directory(older);
  EXPECT_NE(find_error().find("which is a folder / remove that"), std::string::npos) << find_error();
  fs::remove(older);
  fs::create_symlink(path_, older);
  EXPECT_NE(find_error().find("which is a link"), std::string::npos) << find_error();
  fs::remove(older);

  // It comes while the new one is written.
  auto file = begin(place());
  put(older, "precious");
  const auto done = file.commit();
  ASSERT_FALSE(done);
  EXPECT_EQ(text_of(older), "precious");
  EXPECT_EQ(text_of(path_), first);
}

TEST_F(OutputFileTest, AFileGetsANameInAnotherFolder) {
  fs::create_directory(folder_ / "other");
  const fs::path kept = folder_ / "other" / "kept";
  const auto keep = [&](bool force = false) {
    auto found = OutputPlace::find(kept, OutputKind::kRawTrace, force);
    EXPECT_TRUE(found) << found.error().what;
    EXPECT_TRUE(found->same_mount(place()));
    return *found;
  };
  const auto files = [](const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  {
    auto file = begin(place());
    auto done = file.commit_to(keep());
    ASSERT_TRUE(done) << done.error().what;
    EXPECT_EQ(text_of(kept), "secret");
    EXPECT_EQ(fs::hard_link_count(kept), 1U);
  }
  put(kept, "older");
  put(folder_ / "other" / "kept.part", "left over");
  {
    auto file = begin(place());
    const OutputPlace older = keep(true);
    put(kept, "old");
    ASSERT_TRUE(file.commit_to(older));
    EXPECT_EQ(text_of(kept), "secret");
  }
  fs::remove(kept);
  {
    auto file = begin(place());
    fs::create_hard_link(folder_ / "out" / "a.db.part", kept);
    ASSERT_TRUE(file.commit_to(keep(true)));
  }
  EXPECT_EQ(text_of(kept), "secret");
  EXPECT_EQ(files(folder_ / "out"), 0);
  EXPECT_EQ(files(folder_ / "other"), 1);
}

// Whoever can change the file's own folder swaps another file for it again and again.
TEST_F(OutputFileTest, NoOtherFileGetsANameInAnotherFolder) {
  constexpr int kTries = 1500;
  fs::create_directory(folder_ / "other");
  const fs::path kept = folder_ / "other" / "kept";
  const std::string part = path_.string() + ".part";
  const std::string planted = path_.string() + ".planted";
  put(planted, "planted");
  std::atomic<bool> done = false;
  std::thread swapping([&] {
    while (!done) (void)renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, planted.c_str(), RENAME_EXCHANGE);
  });
  int kept_ones = 0;
  for (int i = 0; i < kTries && !HasFailure(); i++) {
    const auto target = OutputPlace::find(kept, OutputKind::kRawTrace, true);
    EXPECT_TRUE(target);
    auto file = place().begin();
    if (!target || !file) continue;
    EXPECT_EQ(write(file->fd(), "secret", 6), 6);
    const bool moved = static_cast<bool>(file->commit_to(*target));
    if (moved) kept_ones++;
    EXPECT_EQ(fs::exists(kept), moved);
    if (fs::exists(kept)) {
      EXPECT_EQ(text_of(kept), "secret") << i;
      fs::remove(kept);
    }
    if (!fs::exists(planted)) put(planted, "planted");
  }
  done = true;
  swapping.join();
  EXPECT_GT(kept_ones, 0);
}

TEST_F(OutputFileTest, AnotherFileSystemIsKnown) {
  const auto there = OutputPlace::find("/dev/shm/uscope-output-test", OutputKind::kRawTrace);
  struct stat own {};
  struct stat other {};
  if (!there || stat("/dev/shm", &other) != 0 || stat(path_.parent_path().c_str(), &own) != 0 ||
      own.st_dev == other.st_dev)
    GTEST_SKIP() << "no second file system here";
  EXPECT_FALSE(there->same_mount(place()));
  EXPECT_FALSE(place().same_mount(*there));
}

TEST_F(OutputFileTest, WhatComesMeanwhileIsNotReplacedEither) {
  {
    auto file = begin(place());
    put(path_, "precious");
    auto done = file.commit();
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().what.find("exists, and is no trace"), std::string::npos) << done.error().what;
  }
  EXPECT_EQ(text_of(path_), "precious");
  fs::remove(path_);
  {
    auto file = begin(place());
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    EXPECT_FALSE(file.commit());
  }
  EXPECT_TRUE(fs::is_fifo(path_));
  fs::remove(path_);
  {
    auto file = begin(place());
    fs::create_symlink(folder_ / "victim", path_);
    EXPECT_FALSE(file.commit());
  }
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_FALSE(fs::exists(folder_ / "victim"));
}

TEST_F(OutputFileTest, PipesDevicesAndSocketsStayWhatTheyAre) {
  const auto refused = [&](const std::string& what) {
    for (const bool force : {false, true}) {
      EXPECT_NE(find_error(OutputKind::kDatabase, force).find("is " + what + ": a database cannot be written to it"),
                std::string::npos)
          << find_error(OutputKind::kDatabase, force);
      EXPECT_NE(find_error(OutputKind::kRawTrace, force).find("is " + what + ": a raw trace"), std::string::npos);
    }
    struct stat status {};
    EXPECT_EQ(lstat(path_.c_str(), &status), 0);
    EXPECT_FALSE(S_ISREG(status.st_mode)) << what;
    fs::remove(path_);
  };
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  refused("a pipe");
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{AF_UNIX, {}};
  ASSERT_LT(path_.string().size(), sizeof(address.sun_path));
  std::strcpy(address.sun_path, path_.c_str());
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_NE(find_error(OutputKind::kText).find("is a socket: text cannot be written to it"), std::string::npos);
  refused("a socket");
  close(listener);
  if (mknod(path_.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) GTEST_SKIP() << "devices can be made by root only";
  {
    const auto null = place(OutputKind::kText);
    ASSERT_GE(null.stream(), 0);
    EXPECT_EQ(write(null.stream(), "x", 1), 1);
  }
  refused("a character device");
  ASSERT_EQ(mknod(path_.c_str(), S_IFBLK | 0600, makedev(7, 250)), 0);
  EXPECT_NE(find_error(OutputKind::kText).find("is a block device: text"), std::string::npos);
  refused("a block device");
}

TEST_F(OutputFileTest, TextGoesToDescriptorsOfThisProcess) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto try_path = [&](const std::string& path) {
    path_ = path;
    const auto found = place(OutputKind::kText);
    ASSERT_GE(found.stream(), 0) << path;
    ASSERT_EQ(write(found.stream(), "x", 1), 1);
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    EXPECT_NE(find_error().find("is a descriptor of this process, a pipe: a database cannot be written to it"),
              std::string::npos)
        << find_error();
  };
  const std::string number = std::to_string(ends[1]);
  try_path("/dev/fd/" + number);
  try_path("/proc/self/fd/" + number);
  try_path("/proc/" + std::to_string(getpid()) + "/fd/" + number);
  fs::create_symlink("/proc/self/fd/" + number, folder_ / "out" / "link");
  try_path(folder_ / "out" / "link");
  path_ = "/dev/fd/" + std::to_string(ends[0]);
  EXPECT_NE(find_error(OutputKind::kText).find("cannot be written to"), std::string::npos);
  close(ends[0]);
  close(ends[1]);
  path_ = "/dev/fd/987654";
  EXPECT_NE(find_error(OutputKind::kText).find("is not an open descriptor"), std::string::npos);
  path_ = "/proc/self/cwd";
  EXPECT_NE(find_error(OutputKind::kText).find("is in /proc"), std::string::npos);
}

TEST_F(OutputFileTest, LinksOfOnesOwnAreFollowed) {
  fs::create_directory(folder_ / "big");
  fs::create_symlink("../big/real.db", path_);
  auto file = begin(place());
  EXPECT_EQ(text_of(folder_ / "big" / "real.db.part"), "secret");
  ASSERT_TRUE(file.commit());
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(text_of(folder_ / "big" / "real.db"), "secret");
  EXPECT_NE(find_error().find("exists, and is no trace"), std::string::npos);
  fs::create_symlink("loop", folder_ / "out" / "loop");
  path_ = folder_ / "out" / "loop";
  EXPECT_NE(find_error().find("symbolic links"), std::string::npos) << find_error();
}

TEST_F(OutputFileTest, LinksThatOthersCouldHaveMadeAreNot) {
  fs::create_symlink(folder_ / "victim", path_);
  fs::permissions(folder_ / "out", fs::perms(0777));
  EXPECT_NE(find_error().find("leads through a symbolic link that another user could have made"), std::string::npos);
  fs::permissions(folder_ / "out", fs::perms(01777));
  EXPECT_EQ(find_error(), "found");
  fs::permissions(folder_ / "out", fs::perms(0755));
  EXPECT_EQ(find_error(), "found");
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a link of another user";
  ASSERT_EQ(lchown(path_.c_str(), 65534, 65534), 0);
  EXPECT_NE(find_error().find("another user"), std::string::npos);
  ASSERT_EQ(lchown(path_.c_str(), 0, 0), 0);
  ASSERT_EQ(chown((folder_ / "out").c_str(), 65534, 65534), 0);
  EXPECT_NE(find_error().find("another user"), std::string::npos);
}

// What the folder's owner can do while the file is written.
TEST_F(OutputFileTest, AnotherFileInItsPlaceIsNeverTakenForIt) {
  const auto part = folder_ / "out" / "a.db.part";
  const auto moved = folder_ / "out" / "moved";
  {
    auto file = begin(place());
    fs::rename(part, moved);
    put(part, "foreign");
    auto done = file.commit();
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().what.find("a.db.part was removed or replaced by somebody"), std::string::npos)
        << done.error().what;
  }
  EXPECT_EQ(text_of(part), "foreign");
  EXPECT_EQ(text_of(moved), "") << "what was written is left behind";
  EXPECT_FALSE(fs::exists(path_));
  fs::remove(part);
  {
    auto file = begin(place());
    fs::remove(part);
    fs::create_symlink(moved, part);
    EXPECT_FALSE(file.commit());
  }
  EXPECT_TRUE(fs::is_symlink(part));
  EXPECT_EQ(text_of(moved), "");
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(OutputFileTest, AFolderThatIsReplacedIsNoticed) {
  fs::create_directory(folder_ / "elsewhere");
  auto file = begin(place());
  fs::rename(folder_ / "out", folder_ / "moved");
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "out");
  auto done = file.commit();
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().what.find("the folder of " + path_.string() + " was moved or replaced"), std::string::npos)
      << done.error().what;
  EXPECT_NE(done.error().remedy.find((folder_ / "moved").string() + "/a.db"), std::string::npos) << done.error().remedy;
  EXPECT_EQ(text_of(folder_ / "moved" / "a.db"), "secret");
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
}

TEST_F(OutputFileTest, NamesThatCannotBe) {
  const auto error_of = [&](const fs::path& path) {
    path_ = path;
    return find_error();
  };
  EXPECT_NE(error_of("").find("the output has an empty name / give a file with -o"), std::string::npos);
  EXPECT_NE(error_of(folder_ / "out").find("the output is a folder: "), std::string::npos);
  EXPECT_NE(error_of(folder_ / "new" / "").find("the output is a folder: "), std::string::npos);
  EXPECT_NE(error_of("/").find("the output is a folder: "), std::string::npos);
  EXPECT_NE(error_of(folder_ / "none" / "a").find("no such folder for the output: "), std::string::npos);
  EXPECT_NE(error_of(folder_ / "out" / std::string(300, 'x')).find("File name too long / give a shorter name"),
            std::string::npos)
      << find_error();
  path_ = folder_ / "out" / std::string(252, 'x');
  const auto file = place().begin();
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().what.find("File name too long"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_ / "out"));
}

TEST_F(OutputFileTest, ANamelessFileLeavesNoTrace) {
  const UniqueFd folder(open((folder_ / "out").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  auto file = OutputFile::nameless(folder.get());
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_TRUE(fs::is_empty(folder_ / "out"));
  auto read_again = file->duplicate();
  ASSERT_TRUE(read_again);
  auto writer = DatabaseWriter::create(std::move(*file));
  ASSERT_TRUE(writer) << writer.error().what;
  ASSERT_TRUE(execute(writer->handle(), "INSERT INTO meta VALUES('key', 'value')"));
  ASSERT_TRUE(writer->commit());
  auto temporary = UniqueFd(dup(folder.get()));
  const auto database = Database::open(std::move(*read_again), "a.db", std::move(temporary));
  ASSERT_TRUE(database) << database.error().what;
  auto query = database->prepare("SELECT value FROM meta");
  ASSERT_TRUE(*query->step());
  EXPECT_EQ(query->text(0), "value");
  EXPECT_TRUE(fs::is_empty(folder_ / "out"));
}

}  // namespace
}  // namespace uscope::store
