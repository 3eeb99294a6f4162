// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Takes golden stacks: traces a command with --verify on every Nth call, and keeps of the stacks on which libdwfl and
// we agree a few that differ most, each reduced to what its walk depends on. Needs root and BPF.
//   take_golden_stacks FOLDER NAME MOST EVERY COMMAND [ARG...]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "golden_stack.h"
#include "tests/support/frame_word.h"
#include "tracer/recorder/recorder.h"
#include "tracer/walk/stack_copy.h"
#include "tracer/walk/verifier.h"

using namespace uscope;
using symbolizer::RowDetail;
using symbolizer::UnwindTable;
using testkit::GoldenFile;
using testkit::GoldenRows;
using testkit::GoldenStack;

namespace {

constexpr std::size_t kMostFrames = 48;
constexpr std::size_t kMostCandidates = 400;
constexpr std::size_t kRowsAround = 2;

bool walks_as_told(const GoldenStack& stack) {
  for (const RowDetail detail : {RowDetail::kStack, RowDetail::kAllRegisters}) {
    const tracer::UserStack walked = testkit::walk(stack, detail);
    if (walked.frames != stack.frames || walked.ended != stack.ended) return false;
  }
  return true;
}

// The rows around some offsets of a table.
GoldenRows rows_around(const UnwindTable& table, const std::vector<std::uint64_t>& offsets) {
  std::set<std::size_t> kept;
  for (const std::uint64_t offset : offsets) {
    const auto after = std::upper_bound(table.rows.begin(), table.rows.end(), offset,
                                        [](std::uint64_t at, const usc_row& row) { return at < row.offset; });
    const auto holds = static_cast<std::size_t>(after - table.rows.begin());
    for (std::size_t i = holds > kRowsAround + 1 ? holds - kRowsAround - 1 : 0; i <= holds + kRowsAround; i++)
      if (i + 1 < table.rows.size()) kept.insert(i);
  }
  GoldenRows out;
  std::map<std::uint32_t, std::uint32_t> numbers;
  if (kept.empty()) return out;
  const std::uint32_t start = table.rows[*kept.begin()].offset & ~(USC_INDEX_BYTES - 1);
  if (start < table.rows[*kept.begin()].offset) out.rows.push_back({start, USC_RULE_NONE});
  for (const std::size_t i : kept) {
    usc_row row = table.rows[i];
    if (USC_RULE_KIND(row.rule) == USC_RULE_SHARED) {
      const auto number = numbers.try_emplace(USC_RULE_NUMBER(row.rule), static_cast<std::uint32_t>(out.rules.size()));
      if (number.second) out.rules.push_back(table.rules[USC_RULE_NUMBER(row.rule)]);
      row.rule = USC_RULE_SHARED_NUMBER(number.first->second);
    }
    out.rows.push_back(row);
    if (kept.count(i + 1) == 0) out.rows.push_back({table.rows[i + 1].offset, USC_RULE_NONE});
  }
  return out;
}

// Replaces what the walk does not depend on by poison.
void reduce(GoldenStack& stack) {
  for (std::size_t step = 512; step > 0; step /= 8) {
    std::vector<std::uint64_t> addresses;
    for (const auto& [address, word] : stack.words) addresses.push_back(address);
    for (std::size_t i = 0; i < addresses.size(); i += step) {
      GoldenStack without = stack;
      for (std::size_t k = i; k < std::min(i + step, addresses.size()); k++) without.words.erase(addresses[k]);
      if (walks_as_told(without)) stack = std::move(without);
    }
  }
  for (std::size_t reg = 0; reg < 16; reg++) {
    GoldenStack without = stack;
    without.registers[reg] = testkit::kPoison;
    if (reg != USC_REG_SP && walks_as_told(without)) stack = std::move(without);
  }
}

struct Candidate {
  GoldenStack stack;
  std::set<std::string> features;  // what it shows
};

class Taker final : public tracer::RecordingClient, public tracer::CompareObserver {
 public:
  explicit Taker(std::string program) : program_(std::move(program)) {}

  tracer::CompareObserver* compare_observer() override { return this; }
  void on_compared(const tracer::Compared& compared) override {
    compared_++;
    if (!compared.equal) {
      differing_++;
      return;
    }
    const usc_sample& sample = compared.sample;
    if (compared.uscope_frames.size() > kMostFrames || compared.uscope_frames.size() < 2 || sample.base % 8 != 0)
      return;
    if (candidates_.size() >= kMostCandidates || !is_new(compared)) return;
    Candidate candidate;
    make(compared, candidate);
    if (walks_as_told(candidate.stack))
      candidates_.push_back(std::move(candidate));
    else
      unlike_++;
  }

  // The stacks that together show most, each time the one that adds most.
  std::vector<Candidate> best(std::size_t most) {
    std::vector<Candidate> chosen;
    std::set<std::string> shown;
    while (chosen.size() < most && !candidates_.empty()) {
      const auto adds = [&](const Candidate& candidate) {
        std::size_t count = 0;
        for (const std::string& feature : candidate.features) count += 1 - shown.count(feature);
        return std::pair(count, candidate.stack.frames.size());
      };
      const auto next = std::max_element(candidates_.begin(), candidates_.end(),
                                         [&](const Candidate& a, const Candidate& b) { return adds(a) < adds(b); });
      if (adds(*next).first == 0) break;
      shown.insert(next->features.begin(), next->features.end());
      chosen.push_back(std::move(*next));
      candidates_.erase(next);
    }
    return chosen;
  }
  void tell() const {
    std::fprintf(stderr, "%zu compared, %zu differ, %zu candidates, %zu walked unlike the kernel's\n", compared_,
                 differing_, candidates_.size(), unlike_);
  }

 private:
  bool is_new(const tracer::Compared& compared) {
    std::string shape = std::to_string(compared.ended);
    for (const std::uint64_t frame : compared.uscope_frames) shape += "," + std::to_string(frame >> 47);
    return shapes_.insert(shape).second;
  }

  void make(const tracer::Compared& compared, Candidate& candidate) {
    const usc_sample& sample = compared.sample;
    GoldenStack& stack = candidate.stack;
    stack.program = program_;
    stack.pc = sample.pc;
    stack.behind = (sample.flags & USC_SAMPLE_BEHIND) != 0;
    std::copy(std::begin(sample.regs), std::end(sample.regs), stack.registers.begin());
    stack.end_base = sample.end_base;
    stack.frames = compared.uscope_frames;
    stack.ended = compared.ended;
    stack.oracle = static_cast<std::uint32_t>(std::min(compared.oracle_frames.size(), compared.uscope_frames.size()));
    take_words(sample, stack);
    for (const tracer::Mapping& map : compared.mappings.all(trace::MmId(sample.mm), sample.head.time))
      if (holds_frame(map, compared.uscope_frames)) stack.mappings.push_back(map);
    for (const std::uint64_t frame : compared.uscope_frames) {
      const trace::FileId serial = trace::file_of(frame);
      const auto known = std::find_if(stack.files.begin(), stack.files.end(),
                                      [&](const GoldenFile& file) { return file.serial == serial; });
      if (serial != trace::kNoFile && known == stack.files.end()) add_file(compared, serial, candidate);
    }
    renumber(stack);
    add_features(candidate);
  }

  // Files are numbered in the order of their frames, so that the vdso is one like others.
  static void renumber(GoldenStack& stack) {
    std::map<trace::FileId, trace::FileId> serials = {{trace::kNoFile, trace::kNoFile}};
    std::uint32_t next = USC_FILE_FIRST;
    for (GoldenFile& file : stack.files) {
      serials[file.serial] = trace::FileId(next);
      file.serial = trace::FileId(next++);
    }
    for (tracer::Mapping& map : stack.mappings) map.file = serials[map.file];
    for (std::uint64_t& frame : stack.frames)
      frame = test::frame_word(serials[trace::file_of(frame)].value(), usc_frame_place(frame),
                               usc_frame_is_exact(frame) != 0);
  }

  static void take_words(const usc_sample& sample, GoldenStack& stack) {
    const tracer::StackCopy copy(sample);
    const auto take = [&](std::uint64_t address) {
      const char* at = copy.find(address);
      if (at == nullptr) return;
      std::memcpy(&stack.words[address], at, 8);
    };
    for (std::uint64_t at = 0; at < 64 * 4096; at += 8) take(sample.base + at);
    for (std::uint64_t at = 0; sample.end_pages != 0 && at < 64 * 4096; at += 8) take(sample.end_base + at);
  }

  static bool holds_frame(const tracer::Mapping& map, const std::vector<std::uint64_t>& frames) {
    return std::any_of(frames.begin(), frames.end(), [&](std::uint64_t frame) {
      const std::uint64_t offset = usc_frame_place(frame) - (usc_frame_is_exact(frame) != 0 ? 0 : 1);
      if (trace::file_of(frame) == trace::kNoFile) return offset >= map.start && offset < map.end;
      return trace::file_of(frame) == map.file && offset >= map.offset && offset - map.offset < map.end - map.start;
    });
  }

  void add_file(const tracer::Compared& compared, trace::FileId serial, Candidate& candidate) {
    const tracer::File* known = compared.files.find(serial);
    if (known == nullptr) return;
    GoldenFile& file = candidate.stack.files.emplace_back();
    file.serial = serial;
    file.name = known->path.substr(known->path.rfind('/') + 1);
    file.state = known->state;
    std::vector<std::uint64_t> offsets;
    for (const std::uint64_t frame : compared.uscope_frames)
      if (trace::file_of(frame) == serial)
        offsets.push_back(usc_frame_place(frame) - (usc_frame_is_exact(frame) != 0 ? 0 : 1));
    if (!rows_) rows_ = std::make_unique<tracer::WalkTables>(compared.files, maker_);
    const auto stack = rows_->get(serial, RowDetail::kStack);
    const auto all = rows_->get(serial, RowDetail::kAllRegisters);
    if (!stack || !all) return;
    file.stack = rows_around(*stack, offsets);
    file.all = rows_around(*all, offsets);
  }

  static void add_features(Candidate& candidate) {
    const GoldenStack& stack = candidate.stack;
    for (const GoldenFile& file : stack.files) {
      candidate.features.insert("file " + file.name);
      for (const usc_rule& rule : file.stack.rules)
        candidate.features.insert("rule " + std::to_string(rule.cfa_kind) + " " + std::to_string(rule.ra_kind) + " " +
                                  std::to_string(rule.cfa_reg) + " " + std::to_string(rule.other_stack));
    }
    for (std::size_t i = 1; i < stack.frames.size(); i++)
      if (usc_frame_is_exact(stack.frames[i]) != 0) candidate.features.insert("signal");
    candidate.features.insert("ended " + std::to_string(stack.ended));
    candidate.features.insert("depth " + std::to_string(stack.frames.size() / 12));
  }

  std::string program_;
  symbolizer::RowCache cache_{symbolizer::RowCache::default_folder()};
  tracer::RowBuildQueue maker_{cache_, 0};
  std::unique_ptr<tracer::WalkTables> rows_;
  std::set<std::string> shapes_;
  std::vector<Candidate> candidates_;
  std::size_t compared_ = 0;
  std::size_t differing_ = 0;
  std::size_t unlike_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: %s FOLDER NAME MOST EVERY COMMAND [ARG...]\n", argv[0]);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const std::string name = argv[2];
  tracer::RecordOptions options;
  options.launch.command.assign(argv + 5, argv + argc);
  options.config.scope = {USC_MODE_ALL_ALL, USC_MAX_FRAMES};
  options.config.verify_every = static_cast<__u32>(std::strtoul(argv[4], nullptr, 10));
  for (__u64& calls : options.config.calls[USC_CALLS_NATIVE]) calls = ~0ull;
  Taker taker(name);
  std::vector<std::unique_ptr<tracer::File>> files;
  const auto outcome = tracer::record(options, taker, &files);
  if (!outcome) {
    std::fprintf(stderr, "%s\n", outcome.error().what.c_str());
    return 1;
  }
  taker.tell();
  int number = 0;
  for (Candidate& candidate : taker.best(std::strtoul(argv[3], nullptr, 10))) {
    reduce(candidate.stack);
    const auto path = folder / (name + "-" + std::to_string(++number) + ".stack");
    std::ofstream(path) << testkit::to_text(candidate.stack);
    std::fprintf(stderr, "%s: %zu frames, %u of them libdwfl's, %zu words\n", path.c_str(),
                 candidate.stack.frames.size(), candidate.stack.oracle, candidate.stack.words.size());
  }
  return number > 0 ? 0 : 1;
}
