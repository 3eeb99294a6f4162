// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/reader/reader_keeper.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "support/process/child_process.h"
#include "support/process/fd_passing.h"
#include "support/process/priority.h"
#include "support/sandbox/renounce.h"
#include "symbolizer/elf/sha256.h"
#include "symbolizer/reader/reader_wire.h"
#include "symbolizer/rows/row_builder.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kDescriptors = 32;

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

bool send_text(int socket, ReadStatus status, const std::string& text) {
  const AnswerHead head{status, static_cast<std::uint32_t>(std::min(text.size(), kMostErrorBytes))};
  return send_all(socket, bytes_of(head)) && send_all(socket, std::as_bytes(std::span(text.data(), head.bytes)));
}

bool send_facts(int socket, const ReaderTask& task) {
  const auto facts = read_elf_facts(task.file.get(), task.name);
  if (!facts)
    return send_text(socket, open_elf(task.file.get(), task.name) ? ReadStatus::kFailed : ReadStatus::kNoElf,
                     facts.error().what);
  const std::vector<std::byte> bytes = encode(*facts);
  if (bytes.size() > kMostFactsBytes)
    return send_text(socket, ReadStatus::kFailed, task.name + ": damaged ELF file: too many names and segments");
  const AnswerHead head{ReadStatus::kDone, static_cast<std::uint32_t>(bytes.size())};
  return send_all(socket, bytes_of(head)) && send_all(socket, bytes);
}

bool send_digest(int socket, const ReaderTask& task) {
  const auto digest = unwind_digest(task.file.get(), task.name);
  if (!digest) return send_text(socket, ReadStatus::kFailed, digest.error().what);
  const AnswerHead head{ReadStatus::kDone, static_cast<std::uint32_t>(digest->size())};
  return send_all(socket, bytes_of(head)) && send_all(socket, bytes_of(*digest));
}

bool send_rows(int socket, const ReaderTask& task, RowDetail detail) {
  const auto table = build_rows(task.file.get(), task.name, detail);
  if (!table) return send_text(socket, ReadStatus::kFailed, table.error().what);
  RowsHead rows;
  rows.counts = counts_of(*table);
  rows.stats = table->stats;
  const std::uint64_t bytes = sizeof(rows) + rows.counts.bytes();
  if (bytes > kMostRowsBytes)
    return send_text(socket, ReadStatus::kFailed,
                     fmt::format("{}: its unwind rows would take {} bytes", task.name, bytes));
  const AnswerHead head{ReadStatus::kDone, static_cast<std::uint32_t>(bytes)};
  bool sent = send_all(socket, bytes_of(head)) && send_all(socket, bytes_of(rows));
  for (const auto part : parts_of(*table)) sent = sent && send_all(socket, part);
  return sent;
}

bool answer(int socket, const ReaderTask& task, ReadRequest request) {
  switch (request) {
    case ReadRequest::kFacts:
      return send_facts(socket, task);
    case ReadRequest::kDigest:
      return send_digest(socket, task);
    case ReadRequest::kRows:
      return send_rows(socket, task, RowDetail::kStack);
    case ReadRequest::kAllRows:
      return send_rows(socket, task, RowDetail::kAllRegisters);
    case ReadRequest::kTaskEnds:
      break;
  }
  return false;
}

[[noreturn]] void be_reader(int control, int socket, pid_t keeper, ReaderWork work) {
  close(control);
  if (!die_with(keeper) || !renounce_forking()) _exit(1);
  work(socket);
  _exit(0);
}

void reap() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace

std::optional<ReaderTask> receive_task(int socket) {
  TaskHead head;
  std::vector<UniqueFd> fds;
  const auto bytes = std::as_writable_bytes(std::span(&head, 1));
  if (receive_with_fds(socket, bytes, fds, MSG_WAITALL) != static_cast<long>(bytes.size()) || fds.size() != 1 ||
      head.name_bytes > kMostTaskName)
    return std::nullopt;
  ReaderTask task{std::move(fds.front()), std::string(head.name_bytes, '\0')};
  if (head.name_bytes != 0 && recv(socket, task.name.data(), head.name_bytes, MSG_WAITALL) != head.name_bytes)
    return std::nullopt;
  return task;
}

bool answer_requests(int socket, const ReaderTask& task) {
  ReadRequest request{};
  while (recv(socket, &request, sizeof(request), 0) == static_cast<ssize_t>(sizeof(request))) {
    if (request == ReadRequest::kTaskEnds) return true;
    try {
      if (!answer(socket, task, request)) return false;
    } catch (const std::exception&) {  // it exceeded its memory limit
      if (!send_text(socket, ReadStatus::kFailed, task.name + ": reading it takes too much memory")) return false;
    }
  }
  return false;
}

void read_files(int socket) {
  while (true) {
    const auto task = receive_task(socket);
    if (!task || !answer_requests(socket, *task)) return;
  }
}

void keep_readers(int control, const KeeperOptions& options) {
  const pid_t tracer = getppid();
  control = settle_child(control, "uscope-reader");
  if (options.nice < 0) raise_priority(options.nice);
  // Both open files of their own on first use.
  elf_version(EV_CURRENT);
  (void)Sha256().finish();
  const auto renounced = renounce({options.memory, kDescriptors});
  // What failed and the remedy, each with its NUL.
  const std::string trouble = renounced ? "" : renounced.error().what + '\0' + renounced.error().remedy;
  // After the change of user, which resets it.
  const bool begun =
      die_with(tracer) && send_all(control, std::as_bytes(std::span(trouble.c_str(), trouble.size() + 1)));
  if (!begun || !renounced) _exit(1);
  while (true) {
    KeeperRequest request{};
    std::vector<UniqueFd> fds;
    const auto bytes = std::as_writable_bytes(std::span(&request, 1));
    if (receive_with_fds(control, bytes, fds) != static_cast<long>(bytes.size()) || fds.size() != 1) _exit(0);
    reap();
    const pid_t self = getpid();
    const pid_t child = fork();
    if (child == 0 && request == KeeperRequest::kReader) be_reader(control, fds.front().get(), self, options.work);
    if (child == 0) {  // another keeper; it ends when its socket is closed
      close(control);
      control = fds.front().release();
      continue;
    }
    const int error = child < 0 ? errno : 0;
    const UniqueFd process(child < 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
    const int fd = process.get();
    if (!send_with_fds(control, bytes_of(error), std::span(&fd, process ? 1 : 0))) _exit(0);
  }
}

}  // namespace uscope::symbolizer
