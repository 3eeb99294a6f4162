// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/files/trace_file.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "uscope/record.h"

namespace uscope::store {
namespace {

// https://www.sqlite.org/fileformat2.html, "The Database Header"; numbers are big-endian.
constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kReadVersion = 19;  // 2: the file has a write-ahead log
constexpr std::size_t kUserVersion = 60;
constexpr std::size_t kApplication = 68;

std::int32_t number_at(const std::array<unsigned char, kHeaderBytes>& header, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < sizeof(number); i++) number = number << 8U | header.at(at + i);
  return static_cast<std::int32_t>(number);
}

}  // namespace

Result<FileStart> look_at_start(int fd) {
  std::array<unsigned char, kHeaderBytes> header{};
  const ssize_t read = ::pread(fd, header.data(), header.size(), 0);
  if (read < 0) return errno_error("cannot read the start of a file", errno);
  FileStart start;
  if (read == 0) return start;
  start.kind = FileKind::kOther;
  std::uint64_t magic = 0;
  std::memcpy(&magic, header.data(), sizeof(magic));
  if (magic == USC_RAW_MAGIC) start.kind = FileKind::kRawTrace;
  if (std::memcmp(header.data(), kSqliteMagic.data(), kSqliteMagic.size()) != 0) return start;
  start.kind = number_at(header, kApplication) == kApplicationId ? FileKind::kDatabase : FileKind::kForeignDatabase;
  start.schema = number_at(header, kUserVersion);
  start.write_ahead_log = header.at(kReadVersion) == 2;
  return start;
}

std::string describe(FileKind kind) {
  switch (kind) {
    case FileKind::kEmpty:
      return "an empty file";
    case FileKind::kDatabase:
      return "a database of uscope's";
    case FileKind::kForeignDatabase:
      return "a database, but not one of uscope's";
    case FileKind::kRawTrace:
      return "a raw trace of uscope's";
    case FileKind::kOther:
      break;
  }
  return "no trace of uscope's";
}

}  // namespace uscope::store
