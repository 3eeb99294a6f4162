// The processes that read ELF files, from inside: a keeper that has given up its privileges and forks readers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "support/unique_fd.h"

namespace uscope::symbolizer {

// What a reader does with its socket; it ends when this returns.
using ReaderWork = void (*)(int socket);

struct KeeperOptions {
  std::uint64_t memory = 0;  // bytes for one file
  int nice = 0;              // set where it may be
  ReaderWork work = nullptr;
};

// Run by a process just forked, with one thread: gives up its privileges and serves KeeperRequests from `control` until
// its other end is closed. The first answer says, as an errno number, whether that went well.
[[noreturn]] void keep_readers(int control, const KeeperOptions& options);

struct ReaderTask {
  UniqueFd file;
  std::string name;
};

// A reader's work: its tasks one after the other, and the answers to all requests about each. answer_requests():
// whether another task comes.
std::optional<ReaderTask> receive_task(int socket);
[[nodiscard]] bool answer_requests(int socket, const ReaderTask& task);
void read_files(int socket);

}  // namespace uscope::symbolizer
