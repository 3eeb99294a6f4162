// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The collector's own walk on any sample, mappings, rows and scope.
#include "tracer/walk/user_walk.h"

#include <filesystem>

#include "fuzz.h"
#include "tests/quiet_backend.h"

using namespace uscope;

namespace {

constexpr std::uint32_t kFiles = 4;
constexpr std::uint64_t kStack = 0x7ffc00000000;
constexpr std::uint64_t kText = 0x10000;

// Rows are what rows.h says, as check_rows() has made sure in the product, or anything.
std::shared_ptr<symbolizer::UnwindTable> take_table(fuzz::Input& input) {
  auto table = std::make_shared<symbolizer::UnwindTable>();
  const bool sound = input.count(3) != 0;
  const std::uint32_t count = static_cast<std::uint32_t>(input.count(12)) + 1;
  std::uint32_t offset = 0;
  for (std::uint32_t i = 0; i < count; i++) {
    table->rows.push_back({offset, i + 1 == count ? 0 : input.take<std::uint32_t>()});
    offset += 1 + input.take<std::uint8_t>();
  }
  table->text_end = sound ? table->rows.back().offset : input.take<std::uint32_t>();
  for (std::uint32_t i = 0; i <= (table->rows.back().offset >> USC_INDEX_SHIFT) + 1; i++) {
    std::uint32_t row = 0;
    while (row + 1 < count && table->rows[row + 1].offset <= i << USC_INDEX_SHIFT) row++;
    table->index.push_back(sound ? row : input.take<std::uint32_t>());
  }
  table->rules.resize(input.count(3));
  for (usc_rule& rule : table->rules) rule = input.take<usc_rule>();
  return table;
}

std::uint64_t take_address(fuzz::Input& input, std::uint64_t base) {
  const auto value = input.take<std::uint16_t>();
  return value == 0xffff ? input.take<std::uint64_t>() : base + value;
}

std::vector<char> take_sample(fuzz::Input& input) {
  usc_sample sample{};
  sample.head.time = 1000;
  sample.mm = 1;
  sample.exe_file = USC_FILE_FIRST + static_cast<std::uint32_t>(input.count(kFiles));
  sample.reason = static_cast<std::uint32_t>(input.count(USC_DEFER_COUNT));
  sample.pc = take_address(input, kText);
  for (__u64& reg : sample.regs) reg = take_address(input, kStack);
  sample.base = sample.regs[USC_REG_SP];
  sample.pages = input.count(3) == 0 ? input.take<std::uint64_t>() : ~0ull;
  sample.end_base = take_address(input, kStack);
  sample.end_pages = sample.pages >> 7 | 1;
  const auto data = input.rest();
  sample.end_bytes = static_cast<std::uint32_t>(data.size() / (1 + (sample.pages & 7)));
  sample.bytes = static_cast<std::uint32_t>(data.size()) - sample.end_bytes;
  std::vector<char> bytes(sizeof(sample) + data.size());
  sample.head.size = static_cast<std::uint32_t>(bytes.size());
  std::memcpy(bytes.data(), &sample, sizeof(sample));
  std::memcpy(bytes.data() + sizeof(sample), data.data(), data.size());
  return bytes;
}

// No cache: the folder cannot be made, and nothing is ever looked up in it.
tracer::RowBuildQueue& maker() {
  static symbolizer::RowCache cache("/proc/uscope-fuzz");
  static tracer::RowBuildQueue maker(cache, 0);
  return maker;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  testkit::QuietBackend backend;
  tracer::FileTable files(backend, maker(), {});
  tracer::MappingTimeline mappings;
  for (std::uint32_t serial = USC_FILE_FIRST; serial < USC_FILE_FIRST + kFiles; serial++) {
    usc_file met{};
    met.head.size = sizeof(met);
    met.file = serial;
    (void)files.add_announced(met);  // not to be opened: a slot
    tracer::File& file = *files.find(trace::FileId(serial));
    file.state = static_cast<usc_file_state>(input.count(USC_FILE_STATE_COUNT - 1));
    file.classes = input.take<std::uint8_t>() & 3;
    if (file.state == USC_FILE_READY) file.rows = take_table(input);
  }
  for (std::size_t i = input.count(12); i > 0; i--) {
    const auto what = input.count(7);
    const std::uint64_t start = take_address(input, kText);
    const std::uint64_t end = start + input.take<std::uint16_t>();
    const std::uint64_t time = input.take<std::uint16_t>();
    if (what == 0) {
      usc_unmap record{};
      record.head.time = time;
      record.mm = 1;
      record.start = start;
      record.end = end;
      mappings.remove(record);
    } else {
      usc_map record{};
      record.head.time = time;
      record.mm = what == 1 ? 2 : 1;
      record.file = USC_FILE_FIRST + static_cast<std::uint32_t>(input.count(kFiles));
      if (what == 2) record.file = USC_FILE_NONE;
      record.start = start;
      record.end = end;
      record.offset = take_address(input, 0);
      mappings.add(record);
    }
    if (what == 7) mappings.fork(trace::MmId(1), trace::MmId(2), time);
  }
  usc_scope scope{};
  scope.mode = USC_MODE_APP_LAST + static_cast<std::uint32_t>(input.count(3));
  scope.budget = 1 + input.take<std::uint8_t>() * 4u;
  tracer::WalkTables rows(files, maker());
  const std::vector<char> bytes = take_sample(input);
  const auto stack =
      tracer::walk_sample(*reinterpret_cast<const usc_sample*>(bytes.data()), mappings, files, rows, scope);
  fuzz::require(stack.frames.size() <= scope.budget, "no more frames than the budget");
  fuzz::require(stack.ended < static_cast<int>(USC_ENDED_BROKEN) + static_cast<int>(USC_BROKEN_COUNT),
                "an end that has a name");
  for (const std::uint64_t frame : stack.frames)
    fuzz::require(usc_frame_file(frame) < USC_FILE_FIRST + kFiles, "a frame's file is one that was met");
  return 0;
}
