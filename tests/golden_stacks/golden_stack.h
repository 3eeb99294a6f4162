// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A recorded stack that can be walked anywhere: registers, the words of the stack copy that the walk depends on, and
// the rows around each of its frames, as text; with what libdwfl made of the same copy when it was taken. No BPF, no
// root, none of the files that the program had mapped.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/result.h"
#include "symbolizer/rows/row_builder.h"
#include "tracer/model/mapping_timeline.h"
#include "tracer/walk/user_walk.h"

namespace uscope::testkit {

// A part of a file's table: rows around some places, holes elsewhere.
struct GoldenRows {
  std::vector<usc_row> rows;
  std::vector<usc_rule> rules;
};

struct GoldenFile {
  trace::FileId serial;  // from USC_FILE_FIRST on, also the vdso's
  std::string name;      // without folders
  std::uint32_t state = 0;
  GoldenRows stack;  // RowDetail::kStack
  GoldenRows all;    // RowDetail::kAllRegisters
};

struct GoldenStack {
  std::string program;
  std::uint64_t pc = 0;
  bool behind = false;  // usc_sample::behind
  std::array<std::uint64_t, 16> registers{};
  std::uint64_t end_base = 0;                    // usc_sample's second copy
  std::map<std::uint64_t, std::uint64_t> words;  // by address
  std::vector<tracer::Mapping> mappings;
  std::vector<GoldenFile> files;
  // What the walk must come to.
  std::vector<std::uint64_t> frames;  // words of uscope/records/frame_word.h
  std::uint32_t oracle = 0;           // so many of them, from the innermost on, are libdwfl's too
  std::uint8_t ended = 0;
};

// What the copy and the registers hold in place of all that a stack does not depend on: no address.
constexpr std::uint64_t kPoison = 0xdead4ead00000000;

[[nodiscard]] std::string to_text(const GoldenStack& stack);
[[nodiscard]] Result<GoldenStack> from_text(const std::string& text);

// The collector's own walk of it, by rows of this detail.
[[nodiscard]] tracer::UserStack walk(const GoldenStack& stack, symbolizer::RowDetail detail);

// The table that the rows make; check_rows() holds.
[[nodiscard]] symbolizer::UnwindTable table_of(const GoldenRows& rows);

}  // namespace uscope::testkit
