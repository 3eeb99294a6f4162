// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/reader/reader_wire.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMostSegments = 4096;
constexpr std::uint64_t kMostNames = 1u << 17;
constexpr std::uint64_t kMostBuildId = 4096;
constexpr std::uint64_t kMostName = std::uint64_t{1} << 20;
constexpr std::uint64_t kPage = 4096;

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

// After the first impossible number, all results are zero and empty, and good() is false.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint64_t number(std::uint64_t most = UINT64_MAX) {
    std::uint64_t value = 0;
    if (rest_.size() < sizeof(value)) return fail();
    std::memcpy(&value, rest_.data(), sizeof(value));
    rest_ = rest_.subspan(sizeof(value));
    return value <= most ? value : fail();
  }
  bool flag() { return number(1) != 0; }
  std::string text(std::uint64_t most) {
    const std::uint64_t size = number(most);
    if (rest_.size() < size) return fail(), std::string();
    std::string value(reinterpret_cast<const char*>(rest_.data()), size);
    rest_ = rest_.subspan(size);
    return value;
  }
  std::string name() {
    std::string value = text(kMostName);
    if (value.find('\0') != std::string::npos) fail();
    return value;
  }
  std::vector<std::string> names() {
    std::vector<std::string> values(0);
    for (std::uint64_t left = number(kMostNames); left > 0 && good_; left--) values.push_back(name());
    return values;
  }
  std::vector<Segment> segments(std::uint64_t file_size) {
    std::vector<Segment> values;
    std::uint64_t before = 0;
    for (std::uint64_t left = number(kMostSegments); left > 0 && good_; left--) {
      Segment segment;
      segment.offset = number(file_size);
      segment.size = number(file_size);
      segment.address = number(UINT64_MAX - kPage - segment.size);
      if (segment.offset < before || segment.size > file_size - segment.offset) fail();
      before = segment.offset;
      values.push_back(segment);
    }
    return values;
  }
  [[nodiscard]] bool good() const { return good_ && rest_.empty(); }

 private:
  std::uint64_t fail() {
    good_ = false;
    rest_ = {};
    return 0;
  }
  std::span<const std::byte> rest_;
  bool good_ = true;
};

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
  writer.text(facts.interpreter);
  writer.texts(facts.needed);
  writer.texts(facts.runpath);
  return writer.take();
}

Result<ElfFacts> decode(std::span<const std::byte> bytes, std::uint64_t file_size) {
  Reader reader(bytes);
  ElfFacts facts;
  facts.file_size = file_size;
  facts.exec_segments = reader.segments(file_size);
  facts.segments = reader.segments(file_size);
  facts.load_start = reader.number();
  facts.load_end = reader.number();
  facts.build_id = reader.text(kMostBuildId);
  facts.entry = reader.number();
  facts.position_independent = reader.flag();
  facts.dynamic = reader.flag();
  facts.interpreter = reader.name();
  facts.needed = reader.names();
  facts.runpath = reader.names();
  if (!reader.good() || facts.load_end < facts.load_start) return Error{"impossible facts of an ELF file", ""};
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
