// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The processes that read ELF files, from the inside: a keeper that has given up its privileges and forks readers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "support/unique_fd.h"

namespace uscope::symbolizer {

// A reader's work on its socket; the reader exits when this returns.
using ReaderWork = void (*)(int socket);

struct KeeperOptions {
  std::uint64_t memory = 0;  // limit in bytes for one file
  int nice = 0;              // set if permitted
  ReaderWork work = nullptr;
};

// Runs in a freshly forked process with one thread: gives up its privileges and serves KeeperRequests from `control`
// until the other end is closed. The first answer is the errno number of giving up privileges, or 0.
[[noreturn]] void keep_readers(int control, const KeeperOptions& options);

struct ReaderTask {
  UniqueFd file;
  std::string name;
};

// A reader's work: receives one task after the other and answers all requests about it. answer_requests() returns
// whether another task follows.
std::optional<ReaderTask> receive_task(int socket);
[[nodiscard]] bool answer_requests(int socket, const ReaderTask& task);
void read_files(int socket);

}  // namespace uscope::symbolizer
