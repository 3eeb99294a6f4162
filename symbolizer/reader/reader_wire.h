// What a reader process and the one that asks it say to each other. Both are the same program, so integers and structs
// go as they lie in memory. Over a stream socket: a TaskHead with the file's descriptor, its name; then requests, each
// answered by an AnswerHead and its bytes; after kTaskEnds, which is not, another task.
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

// To the keeper of readers, with one descriptor: a socket for a new reader, or for another keeper. Answered by an errno
// number, 0 with the new process's pidfd.
enum class KeeperRequest : std::uint32_t { kReader, kKeeper };

struct TaskHead {
  std::uint32_t name_bytes = 0;
};
constexpr std::size_t kMostTaskName = 4096;

// kFacts: ElfFacts as encode() has them. kDigest: a Digest. kRows, kAllRows (RowDetail): a RowsHead, then the parts.
enum class ReadRequest : std::uint8_t { kFacts, kDigest, kRows, kAllRows, kTaskEnds };

enum class ReadStatus : std::uint32_t { kDone, kFailed, kNoElf };

struct AnswerHead {
  ReadStatus status = ReadStatus::kDone;
  std::uint32_t bytes = 0;  // that follow: for kFailed and kNoElf, the text of the error
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

// Of bytes that anybody may have made, for a file of `file_size` bytes: what is not as elf_facts_of() leaves it is
// refused.
Result<ElfFacts> decode(std::span<const std::byte> bytes, std::uint64_t file_size);

// The whole of it, on a blocking socket or pipe.
[[nodiscard]] bool send_all(int socket, std::span<const std::byte> bytes);

}  // namespace uscope::symbolizer
