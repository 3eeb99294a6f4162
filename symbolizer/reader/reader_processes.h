// ELF files of traced programs, read without privileges: a keeper, forked before there is anything to be got at, has
// given up all that it could do (support/sandbox/renounce.h) and forks the readers, which are handed open files one
// after the other and nothing else. All files that a reader gets are of one owner (file_owner.h). What it answers is
// checked as if it came from the file. One that dies, or takes longer than it may, costs the rows of its file and
// nothing else.
//
// A second keeper stands by: where the first one is killed, it takes over, and has a second one made. Where both are
// killed, files are not read any more.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "support/unique_fd.h"
#include "symbolizer/reader/elf_reader.h"
#include "symbolizer/reader/reader_keeper.h"
#include "symbolizer/reader/reader_wire.h"

namespace uscope::symbolizer {

struct ReaderOptions {
  std::chrono::milliseconds facts_time{5'000};  // for the facts of one file
  std::chrono::milliseconds rows_time{30'000};  // for the digest and the rows of one
  std::uint64_t memory = std::uint64_t{1} << 30;
  int nice = 0;
  ReaderWork work = read_files;
};

struct ReaderProcess {
  std::string owner;  // of the files that it reads
  UniqueFd socket;
  UniqueFd process;  // pidfd; none where it died at once
};

class ReaderProcesses final : public ElfReader {
 public:
  // Forks: called while there is no other thread. Fails where the keeper cannot give up its privileges.
  static Result<std::unique_ptr<ReaderProcesses>> start(const ReaderOptions& options = {});
  ReaderProcesses(const ReaderProcesses&) = delete;
  ReaderProcesses& operator=(const ReaderProcesses&) = delete;
  ~ReaderProcesses() override;

  FactsAnswer facts(int fd, const std::string& name) override;
  std::unique_ptr<FileReading> open(int fd, const std::string& name) override;

  // Nothing is read any more: who waits for an answer gets an error soon, and who asks, too. From any thread.
  void stop() { stopped_ = true; }

  [[nodiscard]] pid_t keeper() const { return pid_; }  // the one that start() forked

 private:
  friend class ProcessReading;

  explicit ReaderProcesses(const ReaderOptions& options) : options_(options) {}
  // One that waits for a task, and one that is new.
  std::optional<ReaderProcess> take_idle(const std::string& owner);
  Result<ReaderProcess> begin_reader(const std::string& owner);
  void give_back(ReaderProcess process);
  Result<UniqueFd> ask_keeper(KeeperRequest request, const UniqueFd& socket);
  void make_spare();

  const ReaderOptions options_;
  pid_t pid_ = -1;
  std::atomic<bool> stopped_ = false;
  std::mutex guard_;  // of what follows
  UniqueFd keeper_;
  UniqueFd spare_;
  std::list<ReaderProcess> idle_;  // used last first
};

}  // namespace uscope::symbolizer
