// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/reader/reader_wire.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "support/byte_reader.h"
#include "uscope/arch/arch.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMostSegments = 4096;
constexpr std::uint64_t kMostNames = 1u << 17;
constexpr std::uint64_t kMostBuildId = 4096;
constexpr std::uint64_t kMostName = std::uint64_t{1} << 20;
constexpr std::uint64_t kPage = USC_PAGE_BYTES;

class Writer {
 public:
  void number(std::uint64_t value) { raw(&value, sizeof(value)); }
  void text(const std::string& value) {
    number(value.size());
    raw(value.data(), value.size());
  }
  void texts(const std::vector<std::string>& values) {
    number(values.size());
    for (const std::string& value : values) text(value);
  }
  void segments(const std::vector<Segment>& values) {
    number(values.size());
    for (const Segment& segment : values)
      for (const std::uint64_t value : {segment.offset, segment.size, segment.address}) number(value);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void raw(const void* from, std::size_t count) {
    const auto* bytes = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), bytes, bytes + count);
  }
  std::vector<std::byte> bytes_;
};

std::uint64_t read_number(ByteReader& in, std::uint64_t most = UINT64_MAX) {
  const std::uint64_t at = in.offset();
  const auto value = in.fixed<std::uint64_t>();
  if (value <= most) return value;
  in.fail("a number that an ELF file of this size can have", at);
  return 0;
}

bool read_flag(ByteReader& in) {
  return read_number(in, 1) != 0;
}

std::string read_text(ByteReader& in, std::uint64_t most) {
  return std::string(in.text(read_number(in, most)));
}

std::string read_name(ByteReader& in) {
  const std::uint64_t at = in.offset();
  std::string value = read_text(in, kMostName);
  if (value.find('\0') != std::string::npos) in.fail("a name without NUL", at);
  return value;
}

std::vector<std::string> read_names(ByteReader& in) {
  std::vector<std::string> values;
  for (std::uint64_t left = read_number(in, kMostNames); left > 0 && in.ok(); left--) values.push_back(read_name(in));
  return values;
}

std::vector<Segment> read_segments(ByteReader& in, std::uint64_t file_size) {
  std::vector<Segment> values;
  std::uint64_t before = 0;
  for (std::uint64_t left = read_number(in, kMostSegments); left > 0 && in.ok(); left--) {
    const std::uint64_t at = in.offset();
    Segment segment;
    segment.offset = read_number(in, file_size);
    segment.size = read_number(in, file_size);
    segment.address = read_number(in, UINT64_MAX - kPage - segment.size);
    if (segment.offset < before || segment.size > file_size - segment.offset)
      in.fail("a segment that lies in the file, in order", at);
    before = segment.offset;
    values.push_back(segment);
  }
  return values;
}

}  // namespace

std::vector<std::byte> encode(const ElfFacts& facts) {
  Writer writer;
  writer.segments(facts.exec_segments);
  writer.segments(facts.segments);
  writer.number(facts.load_start);
  writer.number(facts.load_end);
  writer.text(facts.build_id);
  writer.number(facts.entry);
  writer.number(facts.position_independent ? 1 : 0);
  writer.number(facts.dynamic ? 1 : 0);
  writer.number(facts.mixed ? 1 : 0);
  writer.text(facts.interpreter);
  writer.texts(facts.needed);
  writer.texts(facts.runpath);
  return writer.take();
}

Result<ElfFacts> decode(std::span<const std::byte> bytes, std::uint64_t file_size) {
  ByteReader in(bytes, "impossible facts of an ELF file");
  ElfFacts facts;
  facts.file_size = file_size;
  facts.exec_segments = read_segments(in, file_size);
  facts.segments = read_segments(in, file_size);
  facts.load_start = read_number(in);
  facts.load_end = read_number(in);
  if (facts.load_end < facts.load_start) in.fail("an end of the load range that is not below its start");
  facts.build_id = read_text(in, kMostBuildId);
  facts.entry = read_number(in);
  facts.position_independent = read_flag(in);
  facts.dynamic = read_flag(in);
  facts.mixed = read_flag(in);
  facts.interpreter = read_name(in);
  facts.needed = read_names(in);
  facts.runpath = read_names(in);
  if (in.left() != 0) in.fail("the end");
  if (!in.ok()) return in.error();
  return facts;
}

bool send_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace uscope::symbolizer
