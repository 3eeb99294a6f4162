// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "golden_stack.h"

#include <cstdio>
#include <memory>
#include <span>
#include <sstream>
#include <utility>

#include "tests/quiet_backend.h"
#include "tests/support/frame_word.h"
#include "trace/record_builder.h"
#include "tracer/files/file_table.h"
#include "uscope/record.h"

namespace uscope::testkit {
namespace {

using symbolizer::RowDetail;
using symbolizer::UnwindTable;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kWindowPages = 64;
constexpr std::uint32_t kMm = 1;

std::string hex(std::uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::string hex_bytes(const void* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; i++) {
    std::array<char, 3> byte{};
    std::snprintf(byte.data(), byte.size(), "%02x", static_cast<const unsigned char*>(bytes)[i]);
    text += byte.data();
  }
  return text;
}

void write_rows(std::string& out, const char* detail, const GoldenRows& rows) {
  for (const usc_row& row : rows.rows)
    out += std::string("row ") + detail + " " + hex(row.offset) + " " + hex(row.rule) + "\n";
  for (const usc_rule& rule : rows.rules)
    out += std::string("rule ") + detail + " " + hex_bytes(&rule, sizeof(rule)) + "\n";
}

bool read_rule(const std::string& text, usc_rule& rule) {
  if (text.size() != 2 * sizeof(rule)) return false;
  for (std::size_t i = 0; i < sizeof(rule); i++)
    reinterpret_cast<unsigned char*>(&rule)[i] =
        static_cast<unsigned char>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  return true;
}

class StoredRows final : public tracer::UnwindTableSource {
 public:
  explicit StoredRows(const GoldenStack& stack) {
    for (const GoldenFile& file : stack.files) {
      if (file.stack.rows.empty()) continue;
      tables_[{file.serial, RowDetail::kStack}] = std::make_shared<const UnwindTable>(table_of(file.stack));
      tables_[{file.serial, RowDetail::kAllRegisters}] = std::make_shared<const UnwindTable>(table_of(file.all));
    }
  }
  std::shared_ptr<const UnwindTable> get(trace::FileId serial, RowDetail detail) override {
    const auto found = tables_.find({serial, detail});
    return found == tables_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::pair<trace::FileId, RowDetail>, std::shared_ptr<const UnwindTable>> tables_;
};

std::uint64_t word_at(const GoldenStack& stack, std::uint64_t address) {
  const auto found = stack.words.find(address);
  return found == stack.words.end() ? kPoison : found->second;
}

// The sample as the kernel side would send it; pages of which nothing is known are missing.
std::vector<char> sample_of(const GoldenStack& stack, RowDetail detail) {
  usc_sample sample{};
  sample.head.time = 2;
  sample.mm = kMm;
  sample.reason = detail == RowDetail::kStack ? USC_DEFER_NO_TABLE : USC_DEFER_REGISTER;
  sample.pc = stack.pc;
  sample.flags = stack.behind ? USC_SAMPLE_BEHIND : 0;
  std::copy(stack.registers.begin(), stack.registers.end(), sample.regs);
  sample.base = stack.registers[USC_REG_SP];
  sample.end_base = stack.end_base;
  std::vector<std::uint64_t> data;
  const auto copy = [&](std::uint64_t base) {
    const std::uint64_t first = base / kPage;
    std::uint64_t pages = 0;
    for (const auto& [address, word] : stack.words)
      if (address >= base && address / kPage - first < kWindowPages) pages |= 1ull << (address / kPage - first);
    for (std::uint64_t page = 0; page < kWindowPages; page++) {
      if ((pages >> page & 1) == 0) continue;
      const std::uint64_t from = page == 0 ? base : (first + page) * kPage;
      for (std::uint64_t at = from; at < (first + page + 1) * kPage; at += 8) data.push_back(word_at(stack, at));
    }
    return pages;
  };
  sample.pages = copy(sample.base);
  sample.bytes = static_cast<std::uint32_t>(data.size() * 8);
  if (stack.end_base != 0) sample.end_pages = copy(sample.end_base);
  sample.end_bytes = static_cast<std::uint32_t>(data.size() * 8) - sample.bytes;
  return trace::RecordBuilder<usc_sample>(sample).add_values(std::span(std::as_const(data))).take();
}

trace::FileId read_file_id(std::istream& in) {
  std::uint32_t serial = 0;
  in >> serial;
  return trace::FileId(serial);
}

// One line's words into `stack`; false where it is not understood.
bool read_line(const std::string& line, GoldenStack& stack) {
  std::istringstream in(line);
  std::string word;
  in >> word >> std::hex;
  const auto file = [&]() -> GoldenFile& { return stack.files.back(); };
  if (word == "program") {
    in >> stack.program;
  } else if (word == "pc") {
    in >> stack.pc;
  } else if (word == "behind") {
    stack.behind = true;
  } else if (word == "registers") {
    for (std::uint64_t& reg : stack.registers) in >> reg;
  } else if (word == "end") {
    in >> stack.end_base;
  } else if (word == "word") {
    std::uint64_t address = 0;
    in >> address >> stack.words[address];
  } else if (word == "map") {
    tracer::Mapping& map = stack.mappings.emplace_back();
    in >> map.start >> map.end >> map.offset;
    map.file = read_file_id(in);
  } else if (word == "file") {
    GoldenFile& made = stack.files.emplace_back();
    made.serial = read_file_id(in);
    in >> made.name >> made.state;
  } else if (word == "row" || word == "rule") {
    std::string detail;
    std::string rule;
    in >> detail;
    if (stack.files.empty() || (detail != "stack" && detail != "all")) return false;
    GoldenRows& rows = detail == "stack" ? file().stack : file().all;
    if (word == "row") {
      usc_row& row = rows.rows.emplace_back();
      in >> row.offset >> row.rule;
    } else {
      in >> rule;
      if (!read_rule(rule, rows.rules.emplace_back())) return false;
    }
  } else if (word == "frame") {
    std::uint32_t serial = 0;
    std::uint64_t offset = 0;
    unsigned exact = 0;
    in >> serial >> offset >> exact;
    stack.frames.push_back(test::frame_word(serial, offset, exact));
  } else if (word == "ended") {
    unsigned ended = 0;
    in >> ended >> stack.oracle;
    stack.ended = static_cast<std::uint8_t>(ended);
  } else {
    return false;
  }
  return !in.fail();
}

}  // namespace

UnwindTable table_of(const GoldenRows& rows) {
  UnwindTable table;
  table.rows = rows.rows;
  table.rules = rows.rules;
  table.text_start = rows.rows.front().offset;
  table.text_end = rows.rows.back().offset;
  std::uint32_t holds = 0;
  for (std::uint32_t i = 0; i <= (table.text_end - table.text_start) >> USC_INDEX_SHIFT; i++) {
    while (holds + 1 < table.rows.size() && table.rows[holds + 1].offset <= table.text_start + (i << USC_INDEX_SHIFT))
      holds++;
    table.index.push_back(holds);
  }
  table.index.push_back(static_cast<__u32>(table.rows.size() - 1));
  return table;
}

std::string to_text(const GoldenStack& stack) {
  std::string out =
      "program " + stack.program + "\npc " + hex(stack.pc) + (stack.behind ? "\nbehind" : "") + "\nregisters";
  for (const std::uint64_t reg : stack.registers) out += " " + hex(reg);
  out += "\n";
  if (stack.end_base != 0) out += "end " + hex(stack.end_base) + "\n";
  for (const auto& [address, word] : stack.words) out += "word " + hex(address) + " " + hex(word) + "\n";
  for (const tracer::Mapping& map : stack.mappings)
    out += "map " + hex(map.start) + " " + hex(map.end) + " " + hex(map.offset) + " " + hex(map.file.value()) + "\n";
  for (const GoldenFile& file : stack.files) {
    out += "file " + hex(file.serial.value()) + " " + file.name + " " + hex(file.state) + "\n";
    write_rows(out, "stack", file.stack);
    write_rows(out, "all", file.all);
  }
  for (const std::uint64_t frame : stack.frames)
    out += "frame " + hex(usc_frame_file(frame)) + " " + hex(usc_frame_place(frame)) +
           (usc_frame_is_exact(frame) != 0 ? " 1\n" : " 0\n");
  return out + "ended " + hex(stack.ended) + " " + hex(stack.oracle) + "\n";
}

Result<GoldenStack> from_text(const std::string& text) {
  GoldenStack stack;
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); number++)
    if (!read_line(line, stack)) return Error{"line " + std::to_string(number) + " is not understood: " + line, ""};
  return stack;
}

tracer::UserStack walk(const GoldenStack& stack, RowDetail detail) {
  QuietBackend backend;
  static symbolizer::RowCache no_cache("/proc/uscope-none");
  tracer::RowBuildQueue maker(no_cache, 0);
  tracer::FileTable files(backend, maker, {});
  tracer::MappingTimeline mappings;
  for (const GoldenFile& golden : stack.files) {
    usc_file met{};
    met.head.size = sizeof(met);
    met.file = golden.serial.value();
    (void)files.add_announced(met);  // cannot be opened: a slot
    files.find(golden.serial)->state = static_cast<usc_file_state>(golden.state);
  }
  for (const tracer::Mapping& map : stack.mappings) {
    usc_map record{};
    record.head.time = 1;
    record.mm = kMm;
    record.file = map.file.value();
    record.start = map.start;
    record.end = map.end;
    record.offset = map.offset;
    mappings.add(record);
  }
  StoredRows rows(stack);
  const std::vector<char> sample = sample_of(stack, detail);
  const usc_scope scope{USC_MODE_ALL_ALL, USC_MAX_FRAMES};
  return tracer::walk_sample(*reinterpret_cast<const usc_sample*>(sample.data()), mappings, files, rows, scope);
}

}  // namespace uscope::testkit
