// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The protocol between a reader process and its client. Both are the same program, so integers and structs are sent as
// they lie in memory. On a stream socket: a TaskHead with the file's descriptor, its name; then requests, each answered
// by an AnswerHead and its bytes; kTaskEnds has no answer, and another task follows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/result.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/rows/row_builder.h"
#include "symbolizer/rows/row_bytes.h"

namespace uscope::symbolizer {

// Sent to the keeper of readers, with one descriptor: a socket for a new reader, or for another keeper. The answer is
// an errno number; 0 comes with the new process's pidfd.
enum class KeeperRequest : std::uint32_t { kReader, kKeeper };

struct TaskHead {
  std::uint32_t name_bytes = 0;
};
constexpr std::size_t kMostTaskName = 4096;

// kFacts: ElfFacts as encode() writes them. kDigest: a Digest. kRows, kAllRows (RowDetail): a RowsHead, then the parts.
enum class ReadRequest : std::uint8_t { kFacts, kDigest, kRows, kAllRows, kTaskEnds };

enum class ReadStatus : std::uint32_t { kDone, kFailed, kNoElf };

struct AnswerHead {
  ReadStatus status = ReadStatus::kDone;
  std::uint32_t bytes = 0;  // length of the data that follows; for kFailed and kNoElf that is the text of the error
};
constexpr std::size_t kMostErrorBytes = 8192;
constexpr std::size_t kMostFactsBytes = std::size_t{4} << 20;
constexpr std::size_t kMostRowsBytes = std::size_t{256} << 20;

struct RowsHead {
  RowCounts counts;
  std::uint32_t pad = 0;
  RowStats stats;
};

std::vector<std::byte> encode(const ElfFacts& facts);

// Decodes untrusted bytes for a file of `file_size` bytes. Returns an error for anything that elf_facts_of() would not
// produce.
Result<ElfFacts> decode(std::span<const std::byte> bytes, std::uint64_t file_size);

// Sends all bytes, on a blocking socket or pipe.
[[nodiscard]] bool send_all(int socket, std::span<const std::byte> bytes);

}  // namespace uscope::symbolizer
