// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads ELF files of traced programs without privileges: a keeper, forked before there is anything to steal, gives up
// everything it could do (support/sandbox/renounce.h) and forks the readers. Readers receive open files one after the
// other and nothing else, and all files of one reader have one owner (file_owner.h). Its answers are checked as if they
// came from the file. If a reader dies or exceeds its time, only the rows of its file are lost.
//
// A second keeper stands by: if the first one is killed, it takes over and another second one is started. If both are
// killed, no files are read any more.
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
  std::chrono::milliseconds rows_time{30'000};  // for the digest and the rows of one file
  std::uint64_t memory = std::uint64_t{1} << 30;
  int nice = 0;
  ReaderWork work = read_files;
};

struct ReaderProcess {
  std::string owner;  // of the files that it reads
  UniqueFd socket;
  UniqueFd process;  // pidfd; empty if the process died at once
};

class ReaderProcesses final : public ElfReader {
 public:
  // Forks, so call it while there is no other thread. Returns an error if the keeper cannot give up its privileges.
  static Result<std::unique_ptr<ReaderProcesses>> start(const ReaderOptions& options = {});
  ReaderProcesses(const ReaderProcesses&) = delete;
  ReaderProcesses& operator=(const ReaderProcesses&) = delete;
  ~ReaderProcesses() override;

  FactsAnswer facts(int fd, const std::string& name) override;
  std::unique_ptr<FileReading> open(int fd, const std::string& name) override;

  // Stops all reading: pending and new requests soon return an error. May be called from any thread.
  void stop() { stopped_ = true; }

  [[nodiscard]] pid_t keeper() const { return pid_; }  // the one that start() forked

 private:
  friend class ProcessReading;

  explicit ReaderProcesses(const ReaderOptions& options) : options_(options) {}
  // take_idle() returns a reader that waits for a task, begin_reader() a new one.
  std::optional<ReaderProcess> take_idle(const std::string& owner);
  Result<ReaderProcess> begin_reader(const std::string& owner);
  void give_back(ReaderProcess process);
  Result<UniqueFd> ask_keeper(KeeperRequest request, const UniqueFd& socket);
  void make_spare();

  const ReaderOptions options_;
  pid_t pid_ = -1;
  std::atomic<bool> stopped_ = false;
  std::mutex guard_;  // protects all members below
  UniqueFd keeper_;
  UniqueFd spare_;
  std::list<ReaderProcess> idle_;  // most recently used first
};

}  // namespace uscope::symbolizer
