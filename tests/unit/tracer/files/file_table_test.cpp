// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/files/file_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "support/clock.h"
#include "tests/support/processor_time.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/tracer/own_process.h"
#include "tracer/files/walk_tables.h"
#include "tracer/jit/jit_names.h"
#include "tracer/process/library_search.h"

namespace uscope::tracer {
namespace {

using trace::FileId;

// A file of a test's own, mapped so that the kernel has a key for it.
class MappedFile {
 public:
  MappedFile(const std::string& content, const std::string& name)
      : path_(testing::TempDir() + name + std::to_string(getpid())) {
    std::ofstream(path_, std::ios::binary) << content;
    map(UniqueFd(open(path_.c_str(), O_RDONLY | O_CLOEXEC)));
  }
  explicit MappedFile(const std::string& content) {  // a memfd
    UniqueFd fd(memfd_create("code", MFD_CLOEXEC));
    if (write(fd.get(), content.data(), content.size()) < 0) return;
    map(std::move(fd));
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    munmap(page_, 4096);
    if (!path_.empty()) unlink(path_.c_str());
  }

  [[nodiscard]] OwnMapping mapping() const {
    const auto at = reinterpret_cast<std::uint64_t>(page_);
    for (const OwnMapping& mapping : own_mappings())
      if (mapping.start == at) return mapping;
    return {};
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void map(UniqueFd fd) { page_ = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd.get(), 0); }

  std::string path_;
  void* page_ = nullptr;
};

class FileTableTest : public testing::Test {
 protected:
  static OwnMapping own_mapping(const std::string& name) {
    for (const OwnMapping& mapping : own_mappings())
      if (mapping.executable && mapping.path.find(name) != std::string::npos) return mapping;
    return {};
  }

  FakeBackend backend_;
  symbolizer::RowCache cache_{""};
  RowBuildQueue maker_{cache_, 0};
  FileTable files_{backend_, maker_, {{"libc.so*"}, {"*/libm.so.6"}}};
};

TEST_F(FileTableTest, PublishesTheRowsOfAFile) {
  const OwnMapping libc = own_mapping("libc.so");
  ASSERT_TRUE(announce(files_, 2, libc));
  const File* file = files_.find(FileId(2));
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->state, USC_FILE_READY);
  EXPECT_EQ(file->path, libc.path);
  EXPECT_EQ(file->classes, std::uint32_t{USC_CLASS_APP | USC_CLASS_MIXED});
  EXPECT_EQ(file->trouble, "");
  EXPECT_FALSE(file->facts.build_id.empty());
  EXPECT_GT(file->figures.rows, 10'000U);
  EXPECT_EQ(file->figures.bytes, file->rows->bytes());
  EXPECT_EQ(backend_.published[2].rows, file->rows);
  EXPECT_EQ(files_.take_changed(), std::vector{FileId(2)});
  EXPECT_TRUE(files_.take_changed().empty());
}

TEST_F(FileTableTest, RowsWithoutRoomStayInUserSpace) {
  backend_.has_room = false;
  ASSERT_TRUE(announce(files_, 2, own_mapping("libc.so")));
  EXPECT_EQ(files_.find(FileId(2))->state, USC_FILE_USER_ONLY);
  EXPECT_EQ(backend_.published[2].state, USC_FILE_USER_ONLY);
  EXPECT_EQ(files_.find(FileId(2))->rows, nullptr);
  EXPECT_GT(files_.find(FileId(2))->figures.rows, 10'000U);
}

// Of three files two find room. The one that no process has mapped gives way, and comes back once it has room again.
TEST_F(FileTableTest, RowsOfFilesThatNoProcessHasMappedGiveWay) {
  backend_.withdraws = true;
  backend_.most_with_rows = 2;
  std::unordered_set<FileId> mapped{FileId(3)};
  files_.set_mapped_files([&] { return mapped; });
  ASSERT_TRUE(announce(files_, 2, own_mapping("libc.so")));
  ASSERT_TRUE(announce(files_, 3, own_mapping("libm.so")));
  ASSERT_TRUE(announce(files_, 4, own_mapping("libstdc++.so")));
  EXPECT_EQ(backend_.withdrawals, 1);
  EXPECT_EQ(files_.find(FileId(2))->state, USC_FILE_USER_ONLY);
  EXPECT_EQ(files_.find(FileId(2))->rows, nullptr);
  EXPECT_EQ(files_.find(FileId(3))->state, USC_FILE_READY);
  EXPECT_EQ(files_.find(FileId(4))->state, USC_FILE_READY);
  const auto withdrawn = files_.take_withdrawn();
  ASSERT_EQ(withdrawn.size(), 1U);
  EXPECT_EQ(withdrawn[0].first, FileId(2));
  ASSERT_NE(withdrawn[0].second, nullptr);
  EXPECT_TRUE(files_.take_withdrawn().empty());

  // Walks find these rows in user space, and so it is known that they are wanted.
  WalkTables tables(files_, maker_);
  tables.keep(FileId(2), withdrawn[0].second);
  EXPECT_TRUE(tables.take_wanted().empty());
  EXPECT_EQ(tables.get(FileId(2), symbolizer::RowDetail::kStack), withdrawn[0].second);
  const auto wanted = tables.take_wanted();
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_TRUE(tables.take_wanted().empty());

  // Not again at once, though another file could give way: making room takes time.
  mapped = {FileId(2), FileId(3)};
  ASSERT_TRUE(files_.publish_again(wanted[0].first, wanted[0].second));
  EXPECT_EQ(files_.find(FileId(2))->state, USC_FILE_USER_ONLY);
  backend_.most_with_rows = 3;
  ASSERT_TRUE(files_.publish_again(wanted[0].first, wanted[0].second));
  EXPECT_EQ(files_.find(FileId(2))->state, USC_FILE_READY);
  EXPECT_EQ(files_.find(FileId(2))->rows, withdrawn[0].second);
  EXPECT_EQ(backend_.published[2].classes, std::uint32_t{USC_CLASS_APP | USC_CLASS_MIXED});
  EXPECT_EQ(backend_.withdrawals, 1);
}

// Shared rules never give way: for a table that finds no room for its own, no other file loses its rows.
TEST_F(FileTableTest, NothingGivesWayToATableThatCanNeverFit) {
  backend_.withdraws = true;
  files_.set_mapped_files([] { return std::unordered_set<FileId>(); });
  ASSERT_TRUE(announce(files_, 2, own_mapping("libc.so")));
  backend_.never_fits = true;
  ASSERT_TRUE(announce(files_, 3, own_mapping("libm.so")));
  EXPECT_EQ(files_.find(FileId(3))->state, USC_FILE_USER_ONLY);
  const auto published = files_.publish_again(FileId(3), files_.find(FileId(2))->rows);
  ASSERT_TRUE(published);
  EXPECT_FALSE(*published);
  EXPECT_EQ(files_.find(FileId(2))->state, USC_FILE_READY);
  EXPECT_EQ(backend_.withdrawals, 0);
}

// A backend that takes no rows back is not asked to, and a file keeps the state that it was given.
TEST_F(FileTableTest, WhereRowsCannotBeTakenBackNothingGivesWay) {
  backend_.most_with_rows = 1;
  files_.set_mapped_files([] { return std::unordered_set<FileId>(); });
  ASSERT_TRUE(announce(files_, 2, own_mapping("libc.so")));
  ASSERT_TRUE(announce(files_, 3, own_mapping("libm.so")));
  EXPECT_EQ(files_.find(FileId(2))->state, USC_FILE_READY);
  EXPECT_EQ(files_.find(FileId(3))->state, USC_FILE_USER_ONLY);
  backend_.most_with_rows = 2;
  ASSERT_TRUE(files_.publish_again(FileId(3), files_.find(FileId(2))->rows));
  EXPECT_EQ(files_.find(FileId(3))->state, USC_FILE_USER_ONLY);
  EXPECT_EQ(backend_.withdrawals, 0);
}

TEST_F(FileTableTest, WhatIsNoElfFileIsCodeOfAnotherKind) {
  const MappedFile text("not a program\n", "plain-text");
  ASSERT_TRUE(announce(files_, 2, text.mapping()));
  EXPECT_EQ(files_.find(FileId(2))->state, USC_FILE_CODE);
  EXPECT_EQ(backend_.published[2].state, USC_FILE_CODE);
  EXPECT_NE(files_.find(FileId(2))->trouble.find("ELF"), std::string::npos) << files_.find(FileId(2))->trouble;
  EXPECT_EQ(files_.find(FileId(2))->open_error, 0);
}

TEST_F(FileTableTest, AProgramCutOffIsRefusedByName) {
  std::ifstream own("/proc/self/exe", std::ios::binary);
  std::string head(2000, '\0');
  own.read(head.data(), static_cast<std::streamsize>(head.size()));
  const MappedFile cut(head, "cut-off");
  ASSERT_TRUE(announce(files_, 2, cut.mapping()));
  EXPECT_EQ(files_.find(FileId(2))->state, USC_FILE_WITHOUT);
  EXPECT_NE(files_.find(FileId(2))->trouble, "");
}

TEST_F(FileTableTest, AFileThatIsGoneOrAnotherOneIsUnreachable) {
  OwnMapping gone = own_mapping("libc.so");
  gone.path = "/nowhere/at/all";
  gone.start = gone.end = 0;  // nor in map_files
  ASSERT_TRUE(announce(files_, 2, gone));
  EXPECT_EQ(files_.find(FileId(2))->state, USC_FILE_UNREACHABLE);
  EXPECT_EQ(files_.find(FileId(2))->open_error, ENOENT);
  EXPECT_EQ(files_.find(FileId(2))->path, "/nowhere/at/all");

  const MappedFile other("another file's content\n", "replaced");
  OwnMapping replaced = own_mapping("libc.so");
  replaced.path = other.path();
  replaced.start = replaced.end = 0;
  ASSERT_TRUE(announce(files_, 3, replaced));
  EXPECT_EQ(files_.find(FileId(3))->state, USC_FILE_UNREACHABLE);
  EXPECT_EQ(files_.find(FileId(3))->open_error, ESTALE);
}

TEST_F(FileTableTest, NeverWaitsForAFifo) {
  const std::string path = testing::TempDir() + "fifo" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  OwnMapping mapping = own_mapping("libc.so");
  mapping.path = path;
  mapping.start = mapping.end = 0;
  ASSERT_TRUE(announce(files_, 2, mapping));
  EXPECT_EQ(files_.find(FileId(2))->state, USC_FILE_UNREACHABLE);
  unlink(path.c_str());
}

TEST_F(FileTableTest, DeletedMemoryIsCodeMadeAtRunTime) {
  const MappedFile code(std::string(4096, '\xc3'));
  ASSERT_TRUE(announce(files_, 2, code.mapping(), 0));
  EXPECT_EQ(files_.find(FileId(2))->state, USC_FILE_JIT);
  EXPECT_TRUE(is_jit(FileId(2), files_.find(FileId(2))));
  EXPECT_TRUE(is_jit(trace::kNoFile, nullptr));
  EXPECT_FALSE(is_jit(FileId(3), files_.find(FileId(3))));
}

std::string content_of(int fd) {
  struct stat status {};
  EXPECT_EQ(fstat(fd, &status), 0);
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  EXPECT_EQ(pread(fd, content.data(), content.size(), 0), status.st_size);
  return content;
}

std::string content_of(const KeptCopy& copy) {
  return content_of(copy.open().get());
}

std::string own_library() {
  std::ifstream file(std::filesystem::canonical("/usr/lib/x86_64-linux-gnu/libz.so.1"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A memfd may be filled again with another library: what is read is a copy of what was mapped.
TEST_F(FileTableTest, ALibraryInMemoryIsReadFromACopy) {
  const std::string content = own_library();
  const MappedFile library(content);
  ASSERT_TRUE(announce(files_, 2, library.mapping(), 0));
  const File& file = *files_.find(FileId(2));
  EXPECT_EQ(file.state, USC_FILE_READY);
  EXPECT_FALSE(file.fd);
  ASSERT_TRUE(file.kept);
  EXPECT_EQ(content_of(*file.kept), content);
}

TEST_F(FileTableTest, ALibraryInMemoryThatHasChangedByNowHasNoRows) {
  const MappedFile library(own_library());
  backend_.on_asked_for_key = [](usc_file_key& key) { key.generation++; };
  ASSERT_TRUE(announce(files_, 2, library.mapping(), 0));
  const File& file = *files_.find(FileId(2));
  EXPECT_EQ(file.state, USC_FILE_WITHOUT);
  EXPECT_FALSE(file.kept);
  EXPECT_EQ(file.rows, nullptr);
  EXPECT_EQ(file.trouble.substr(0, 28), "changed after it was mapped:");
  EXPECT_TRUE(file.facts.build_id.empty());
}

TEST_F(FileTableTest, RowsOfAFileThatWasWrittenToMeanwhileAreNotTaken) {
  const MappedFile library(own_library(), "written-to");
  int asked = 0;
  backend_.on_asked_for_key = [&](usc_file_key& key) { key.ctime_nsec = asked++ == 0 ? 0 : 1; };
  ASSERT_TRUE(announce(files_, 2, library.mapping()));
  const File& file = *files_.find(FileId(2));
  EXPECT_EQ(file.state, USC_FILE_WITHOUT);
  EXPECT_EQ(file.rows, nullptr);
  EXPECT_TRUE(file.facts.build_id.empty());
  EXPECT_EQ(backend_.published[2].state, USC_FILE_WITHOUT);
}

// It stays one file whatever is written to it, and the trace is told of it once.
TEST_F(FileTableTest, MemoryForCodeIsSettled) {
  backend_.reserves = true;
  const MappedFile code(std::string(4096, '\xc3'));
  ASSERT_TRUE(announce(files_, 2, code.mapping(), 0));
  ASSERT_TRUE(announce(files_, 3, code.mapping(), 0));
  EXPECT_EQ(files_.find(FileId(2))->state, USC_FILE_JIT);
  EXPECT_EQ(files_.find(FileId(3))->state, USC_FILE_JIT);
  EXPECT_EQ(backend_.published[1000].state, USC_FILE_JIT);
  EXPECT_EQ(backend_.published.count(1001), 0U);
  EXPECT_EQ(files_.take_changed(), std::vector{FileId(2)});
}

// That cannot say what the memory of MemoryForCodeIsSettled is.
class RefusingBackend final : public FakeBackend {
 public:
  Result<void> publish_state(FileId file, usc_file_state state, std::uint32_t classes) override {
    if (file >= FileId(1000)) return Error{"refused", ""};
    return FakeBackend::publish_state(file, state, classes);
  }
};

TEST_F(FileTableTest, WhereMemoryCannotBeSettledTheOtherFilesAreToldOf) {
  RefusingBackend backend;
  backend.reserves = true;
  FileTable files(backend, maker_, {});
  const MappedFile code(std::string(4096, '\xc3'));
  EXPECT_FALSE(announce(files, 2, code.mapping(), 0));
  EXPECT_EQ(files.take_changed(), std::vector{FileId(2)});
}

TEST(MemoryFilesTest, WhatChangesAllTheTimeIsSettledAfterAWhile) {
  MemoryFiles memory;
  usc_file_key key{};
  key.ino = 7;
  for (int i = 0; i < 7; i++) EXPECT_FALSE(memory.saw_code(key, false).settled) << i;
  EXPECT_TRUE(memory.saw_code(key, false).settled);
  EXPECT_FALSE(memory.saw_code(key, true).settled);
  key.ino = 8;
  EXPECT_TRUE(memory.saw_code(key, true).first);
  key.ino = 9;
  memory.saw_elf(key);
  for (int i = 0; i < 20; i++) EXPECT_FALSE(memory.saw_code(key, true).settled);
}

// The paths of all files that are ready, once the maker has done all that was asked for.
std::vector<std::string> ready_paths(FileTable& files, RowBuildQueue& maker) {
  while (maker.is_busy()) EXPECT_TRUE(maker.wait(std::chrono::milliseconds(1000)));
  std::vector<std::string> paths;
  for (const FileId serial : files.take_changed())
    if (files.find(serial)->state == USC_FILE_READY) paths.push_back(files.find(serial)->path);
  return paths;
}

bool has_path(const std::vector<std::string>& paths, const std::string& name) {
  return std::any_of(paths.begin(), paths.end(), [&](const auto& path) { return path.find(name) != path.npos; });
}

TEST_F(FileTableTest, PreloadsACommandWithItsLibraries) {
  backend_.reserves = true;
  RowBuildQueue maker(cache_);
  FileTable files(backend_, maker, {});
  files.preload("/proc/self/exe");
  const std::size_t published = backend_.published.size();  // copies may still be made
  const std::vector<std::string> paths = ready_paths(files, maker);
  EXPECT_TRUE(has_path(paths, "/libc.so"));
  EXPECT_TRUE(has_path(paths, "/libstdc++.so"));
  EXPECT_EQ(published, paths.size());
}

TEST_F(FileTableTest, WhatAnExecutableAsksForIsLookedUpWhenItIsMet) {
  backend_.reserves = true;
  const OwnMapping own = own_mapping(std::filesystem::read_symlink("/proc/self/exe").filename());
  ASSERT_TRUE(announce(files_, 2, own));
  const std::vector<std::string> paths = ready_paths(files_, maker_);
  EXPECT_TRUE(has_path(paths, own.path));
  EXPECT_TRUE(has_path(paths, "/libc.so"));
  EXPECT_TRUE(has_path(paths, "/libstdc++.so"));
}

TEST_F(FileTableTest, AFileIsNotMetBeforeItsRowsAreThere) {
  RowBuildQueue maker(cache_, 1);
  FileTable files(backend_, maker, {});
  ASSERT_TRUE(announce(files, 2, own_mapping("libc.so")));
  EXPECT_TRUE(files.find(FileId(2))->coming);
  EXPECT_FALSE(files.find(FileId(2))->met);
  EXPECT_TRUE(files.take_changed().empty());
  EXPECT_TRUE(backend_.published.empty());
  while (maker.is_busy()) ASSERT_TRUE(maker.wait(std::chrono::milliseconds(1000)));
  EXPECT_FALSE(files.find(FileId(2))->coming);
  EXPECT_EQ(files.find(FileId(2))->state, USC_FILE_READY);
  EXPECT_EQ(maker.take_settled(), std::vector{FileId(2)});
  EXPECT_FALSE(maker.is_busy());
}

// Of which not even the kind is known for long.
class PatientReader final : public symbolizer::ElfReader {
 public:
  symbolizer::FactsAnswer facts(int fd, const std::string& name) override {
    go_on_.wait(false);
    return symbolizer::direct_reader().facts(fd, name);
  }
  std::unique_ptr<symbolizer::FileReading> open(int fd, const std::string& name) override {
    return symbolizer::direct_reader().open(fd, name);
  }
  void go_on() {
    go_on_ = true;
    go_on_.notify_all();
  }

 private:
  std::atomic<bool> go_on_{false};
};

TEST_F(FileTableTest, NobodyWaitsForTheFactsOfAFile) {
  PatientReader reader;
  RowBuildQueue maker(cache_, 2, reader);
  FileTable files(backend_, maker, {});
  ASSERT_TRUE(announce(files, 2, own_mapping("libc.so")));
  EXPECT_TRUE(files.find(FileId(2))->coming);
  const MappedFile text("not a program\n", "plain-text");
  ASSERT_TRUE(announce(files, 3, text.mapping()));
  ASSERT_TRUE(maker.hand_over());
  EXPECT_TRUE(backend_.published.empty());
  reader.go_on();
  while (maker.is_busy()) ASSERT_TRUE(maker.wait(std::chrono::milliseconds(1000)));
  EXPECT_EQ(files.find(FileId(2))->state, USC_FILE_READY);
  EXPECT_FALSE(files.find(FileId(2))->facts.build_id.empty());
  EXPECT_EQ(files.find(FileId(3))->state, USC_FILE_CODE);
  EXPECT_NE(files.find(FileId(3))->trouble.find("ELF"), std::string::npos);
  // Walks that wait learn of both.
  std::vector<FileId> told = maker.take_settled();
  std::sort(told.begin(), told.end());
  EXPECT_EQ(told, (std::vector{FileId(2), FileId(3)}));
}

// Its processes die: of the facts, or of the rows.
class DyingReader final : public symbolizer::ElfReader {
 public:
  explicit DyingReader(bool at_facts) : at_facts_(at_facts) {}
  symbolizer::FactsAnswer facts(int fd, const std::string& name) override {
    if (at_facts_) return {true, Error{"it died", ""}, true};
    return symbolizer::direct_reader().facts(fd, name);
  }
  std::unique_ptr<symbolizer::FileReading> open(int, const std::string&) override {
    struct Dead final : symbolizer::FileReading {
      Result<symbolizer::Digest> digest() override { return Error{"it died", ""}; }
      Result<symbolizer::UnwindTable> rows(symbolizer::RowDetail) override { return Error{"it died", ""}; }
      [[nodiscard]] bool has_failed() const override { return true; }
    };
    return std::make_unique<Dead>();
  }

 private:
  bool at_facts_;
};

// Nobody knows whether it has rows, so no stack may say that it has none.
TEST_F(FileTableTest, AFileWhoseReaderDiedIsNotOneWithoutRows) {
  for (const bool at_facts : {true, false}) {
    DyingReader reader(at_facts);
    RowBuildQueue maker(cache_, 0, reader);
    FileTable files(backend_, maker, {});
    ASSERT_TRUE(announce(files, 2, own_mapping("libc.so")));
    EXPECT_EQ(files.find(FileId(2))->state, USC_FILE_UNREACHABLE);
    EXPECT_EQ(files.find(FileId(2))->trouble, "it died");
    EXPECT_EQ(backend_.published[2].state, USC_FILE_UNREACHABLE);
  }
}

// With at most so many descriptors for files.
class FewDescriptors {
 public:
  explicit FewDescriptors(std::size_t files) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = 72 + JitNames::kDescriptors + files;
    setrlimit(RLIMIT_NOFILE, &few);
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(FileTableTest, AFileThatWasReadMakesRoomForTheNext) {
  const FewDescriptors few(2);
  backend_.reserves = true;  // what they ask for is looked up, where there is room
  RowBuildQueue maker(cache_, 1);
  FileTable files(backend_, maker, {});
  const std::vector<std::string> names = {"libc.so", "libstdc++.so", "libm.so", "libgcc_s.so"};
  std::uint32_t serial = 2;
  for (const std::string& name : names) {
    ASSERT_TRUE(announce(files, serial++, own_mapping(name)));
    while (maker.is_busy()) ASSERT_TRUE(maker.wait(std::chrono::seconds(20)));
  }
  for (serial = 2; serial < 2 + names.size(); serial++) {
    EXPECT_EQ(files.find(FileId(serial))->state, USC_FILE_READY) << files.find(FileId(serial))->trouble;
    EXPECT_FALSE(files.find(FileId(serial))->fd);
  }
}

// How many descriptors of this process refer to that file.
std::size_t descriptors_to(const std::string& path) {
  struct stat wanted {};
  EXPECT_EQ(stat(path.c_str(), &wanted), 0);
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    struct stat status {};
    if (stat(entry.path().c_str(), &status) == 0 && status.st_dev == wanted.st_dev && status.st_ino == wanted.st_ino)
      count++;
  }
  return count;
}

// A young file, as a build makes it: read from a copy, which stays.
TEST_F(FileTableTest, AYoungFileIsClosedAndItsContentStays) {
  const std::string content = own_library();
  std::optional<MappedFile> library(std::in_place, content, "young");
  const OwnMapping mapping = library->mapping();
  ASSERT_TRUE(announce(files_, 2, mapping));
  const File& file = *files_.find(FileId(2));
  EXPECT_EQ(file.state, USC_FILE_READY);
  EXPECT_EQ(descriptors_to(library->path()), 0U);
  EXPECT_EQ(files_.take_changed(), std::vector{FileId(2)});
  EXPECT_EQ(file.place, library->path());
  library.reset();  // deletes it
  const FileContent later = files_.open_content(file);
  EXPECT_TRUE(later.is_copy);
  EXPECT_EQ(content_of(later.fd.get()), content);
  EXPECT_FALSE(files_.open_original(file));
}

// Copying takes time, which the thread that meets the file does not have.
TEST_F(FileTableTest, AYoungFileIsCopiedByTheQueue) {
  RowBuildQueue maker(cache_, 1);
  FileTable files(backend_, maker, {});
  const std::string content = own_library();
  std::optional<MappedFile> library(std::in_place, content, "by-the-queue");
  ASSERT_TRUE(announce(files, 2, library->mapping()));
  const File& file = *files.find(FileId(2));
  EXPECT_FALSE(file.copied);
  EXPECT_EQ(content_of(file.fd.get()), content);
  library.reset();  // deletes it
  bool was_copied = false;
  while (maker.is_busy()) {
    ASSERT_TRUE(maker.wait(std::chrono::seconds(20)));
    was_copied |= file.copied;
  }
  EXPECT_TRUE(was_copied);
  EXPECT_EQ(file.state, USC_FILE_READY);
  EXPECT_EQ(file.room, nullptr);
  ASSERT_TRUE(file.kept);
  EXPECT_EQ(content_of(*file.kept), content);
}

// An old one is opened again; it is copied when it has been there for a while.
TEST_F(FileTableTest, AnOldFileIsOpenedAgainWhereItIs) {
  files_.copy_younger_than(0);
  const OwnMapping libc = own_mapping("libc.so");
  ASSERT_TRUE(announce(files_, 2, libc));
  const File& file = *files_.find(FileId(2));
  EXPECT_FALSE(file.kept);
  EXPECT_EQ(descriptors_to(libc.path), 0U);
  const FileContent now = files_.open_content(file);
  EXPECT_FALSE(now.is_copy);
  EXPECT_TRUE(files_.is_unchanged(file, now));
  ASSERT_TRUE(files_.keep_more(monotonic_ns()));
  EXPECT_FALSE(file.kept);
  ASSERT_TRUE(files_.keep_more(monotonic_ns() + 60'000'000'000));
  ASSERT_TRUE(file.kept);
  EXPECT_EQ(content_of(*file.kept), content_of(now.fd.get()));
  EXPECT_EQ(files_.take_changed(), std::vector{FileId(2)});  // once
}

TEST_F(FileTableTest, NothingIsCopiedWhenTracingEnds) {
  files_.copy_younger_than(0);
  ASSERT_TRUE(announce(files_, 2, own_mapping("libc.so")));
  files_.end_opening();
  ASSERT_TRUE(files_.keep_more(monotonic_ns() + 60'000'000'000));
  EXPECT_FALSE(files_.find(FileId(2))->kept);
}

// What was written where it is may have been written while it was mapped.
TEST_F(FileTableTest, ACopyOfAFileThatHasChangedIsDropped) {
  const MappedFile changed(own_library(), "changed");
  const MappedFile same(own_library(), "same");
  ASSERT_TRUE(announce(files_, 2, changed.mapping()));
  ASSERT_TRUE(announce(files_, 3, same.mapping()));
  const std::uint64_t inode = changed.mapping().ino;
  backend_.on_asked_for_key = [&](usc_file_key& key) { key.ctime_nsec = key.ino == inode ? 1 : 0; };
  files_.drop_changed();
  EXPECT_FALSE(files_.find(FileId(2))->kept);
  EXPECT_TRUE(files_.find(FileId(3))->kept);
}

// Rows that are made again, after the file was deleted.
TEST_F(FileTableTest, RowsAreMadeAgainFromTheCopy) {
  std::optional<MappedFile> library(std::in_place, own_library(), "again");
  ASSERT_TRUE(announce(files_, 2, library->mapping()));
  library.reset();
  WalkTables tables(files_, maker_);
  const auto rows = tables.get(FileId(2), symbolizer::RowDetail::kAllRegisters);
  ASSERT_NE(rows, nullptr);
  EXPECT_FALSE(rows->rows.empty());
}

TEST_F(FileTableTest, WhatIsGivenUpStaysOpenWhileItIsRead) {
  PatientReader reader;
  std::optional<FileTable> files;  // goes after the maker
  RowBuildQueue maker(cache_, 1, reader);
  const OwnMapping libc = own_mapping("libc.so");
  {
    const FewDescriptors none(0);
    files.emplace(backend_, maker, ModuleGlobs());
  }
  ASSERT_TRUE(announce(*files, 2, libc));
  const int number = files->find(FileId(2))->fd.get();
  struct stat before {};
  ASSERT_EQ(fstat(number, &before), 0);
  ASSERT_TRUE(files->give_up_rows());
  EXPECT_EQ(files->find(FileId(2))->state, USC_FILE_UNREACHABLE);
  struct stat after {};
  ASSERT_EQ(fstat(number, &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  reader.go_on();
}

TEST_F(FileTableTest, AFileThatIsMetAfterAllWereGivenUpIsToldOf) {
  PatientReader reader;
  std::optional<FileTable> files;
  RowBuildQueue maker(cache_, 1, reader);
  files.emplace(backend_, maker, ModuleGlobs());
  ASSERT_TRUE(announce(*files, 2, own_mapping("libc.so")));
  ASSERT_TRUE(files->give_up_rows());
  ASSERT_TRUE(announce(*files, 3, own_mapping("libm.so")));
  EXPECT_EQ(files->take_changed(), (std::vector{FileId(2), FileId(3)}));
  EXPECT_EQ(files->find(FileId(3))->state, USC_FILE_UNREACHABLE);
  EXPECT_EQ(files->find(FileId(3))->trouble, files->find(FileId(2))->trouble);
  EXPECT_FALSE(files->find(FileId(3))->fd);
  reader.go_on();
}

TEST(LibrarySearch, TakesNoLongerForAFileThatAsksForMuch) {
  symbolizer::ElfFacts facts;
  facts.needed.assign(60'000, "a");
  facts.runpath.assign(100'000, "/nowhere");
  EXPECT_LT(test::processor_seconds_of([&] { EXPECT_TRUE(asked_for(facts, "/x").empty()); }), 2);
}

TEST(LibrarySearch, ALibraryIsAnElfFile) {
  const test::TemporaryFolder temporary;
  const std::string folder = temporary.path();
  std::filesystem::create_directory(folder + "/text");
  std::filesystem::create_directory(folder + "/elf");
  std::ofstream(folder + "/text/libc.so") << "GROUP ( /lib/libc.so.6 )\n";
  std::filesystem::copy_file("/proc/self/exe", folder + "/elf/libc.so");
  symbolizer::ElfFacts facts;
  facts.needed = {"libc.so"};
  facts.runpath = {folder + "/text"};
  EXPECT_EQ(asked_for(facts, "/x"), std::vector<std::string>());
  facts.runpath.push_back(folder + "/elf");
  EXPECT_EQ(asked_for(facts, "/x"), std::vector<std::string>({folder + "/elf/libc.so"}));
}

// musl's loader is its C library.
TEST(LibrarySearch, OfAProgramWithMusl) {
  symbolizer::ElfFacts facts;
  facts.interpreter = "/lib/ld-musl-x86_64.so.1";
  facts.needed = {"libc.so", "libm.so.6", "libc.musl-x86_64.so.1", "libstdc++.so.6"};
  EXPECT_EQ(asked_for(facts, "/x"), std::vector<std::string>({facts.interpreter}));
}

TEST_F(FileTableTest, SerialsOutOfRangeAreLeftAlone) {
  ASSERT_TRUE(announce(files_, USC_FILE_VDSO, own_mapping("libc.so")));
  ASSERT_TRUE(announce(files_, USC_FRAME_FILES, own_mapping("libc.so")));
  EXPECT_EQ(files_.count(), 0U);
}

TEST_F(FileTableTest, ThePathOfARecordIsBoundedByTheRecord) {
  std::vector<char> bytes = file_record(2, {.path = "/usr/lib/x.so"});
  auto& whole = *reinterpret_cast<usc_file*>(bytes.data());
  EXPECT_EQ(path_of(whole), "/usr/lib/x.so");
  whole.path_bytes = 0xffff;
  EXPECT_EQ(path_of(whole), "/usr/lib/x.so");
  whole.head.size = sizeof(usc_file) + 5;  // "x.so" and its end
  EXPECT_EQ(path_of(whole), "/x.so");
}

}  // namespace
}  // namespace uscope::tracer
