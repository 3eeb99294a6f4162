// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/user_walk.h"

#include <cstring>
#include <memory>
#include <optional>

#include "symbolizer/rows/table_access.h"
#include "tracer/walk/stack_copy.h"
#include "uscope/unwind.h"

namespace {

// The copy of the stack, as the step function's memory.
struct Memory {
  uscope::tracer::StackCopy copy;
  bool left = false;  // something that it does not hold was asked for
};

}  // namespace

static inline int usc_read_u64(void* memory, __u64 address, __u64* value) {
  auto* stack = static_cast<Memory*>(memory);
  const char* found = stack->copy.find(address);
  if (found == nullptr) {
    stack->left = true;
    return -1;
  }
  std::memcpy(value, found, sizeof(*value));
  return 0;
}

namespace uscope::tracer {
namespace {

constexpr int kMaxSteps = 4096;

struct PcLookup {
  std::uint64_t frame = 0;
  std::uint32_t rule = USC_RULE_NONE;
  std::uint32_t classes = 0;
  std::shared_ptr<const symbolizer::UnwindTable> table;
  std::optional<usc_unwind_error> error;  // for a frame that is known but cannot be stepped from
  bool coming = false;                    // its rows are being made
};

std::uint8_t broken(int error) {
  return static_cast<std::uint8_t>(USC_ENDED_BROKEN + error);
}

std::uint64_t lookup_address(const usc_frame& frame) {
  return frame.pc - (frame.exact != 0 ? 0 : 1);
}

// One walk over one sample, with rows of one detail.
class Walk {
 public:
  Walk(const usc_sample& sample, const MappingTimeline& mappings, const FileTable& files, UnwindTableSource& rows,
       const usc_scope& scope, const CodeReader& code, symbolizer::RowDetail detail)
      : sample_(sample), mappings_(mappings), files_(files), rows_(rows), scope_(scope), code_(code), detail_(detail) {}

  UserStack run();

 private:
  std::optional<Mapping> find_mapping() const;
  std::optional<PcLookup> look_up_pc(const Mapping& mapping) const;
  [[nodiscard]] std::uint32_t rule_of_code(std::uint32_t rule) const;
  // Nothing: to the next frame. Otherwise how the stack ends.
  std::optional<std::uint8_t> pass_frame(UserStack& stack);

  const usc_sample& sample_;
  const MappingTimeline& mappings_;
  const FileTable& files_;
  UnwindTableSource& rows_;
  const usc_scope& scope_;
  const CodeReader& code_;
  const symbolizer::RowDetail detail_;
  Memory memory_{StackCopy(sample_)};
  usc_frame frame_{};
  usc_scope_state state_ = USC_SCOPE_START;
};

std::optional<Mapping> Walk::find_mapping() const {
  const std::uint64_t address = lookup_address(frame_);
  const trace::MmId mm(sample_.mm);
  auto mapping = mappings_.find(mm, address, sample_.head.time);
  return mapping ? mapping : mappings_.find_announced_later(mm, address, sample_.head.time);
}

// Nothing where the file is not known.
std::optional<PcLookup> Walk::look_up_pc(const Mapping& mapping) const {
  PcLookup lookup;
  const File* file = files_.find(mapping.file);
  if (is_jit(mapping.file, file)) {
    lookup.frame = USC_FRAME(USC_FILE_NONE, frame_.pc & (USC_FRAME_EXACT - 1), 0);
    lookup.rule = USC_RULE_FRAME_POINTER;
    return lookup;
  }
  if (file == nullptr || (!file->met && !file->coming)) return std::nullopt;
  const std::uint64_t offset = lookup_address(frame_) - mapping.start + mapping.offset;
  lookup.frame = USC_FRAME(mapping.file.value(), (offset + (frame_.exact != 0 ? 0 : 1)) & (USC_FRAME_EXACT - 1), 0);
  lookup.classes = file->classes;
  lookup.table = rows_.get(mapping.file, detail_);
  lookup.coming = file->coming || (!lookup.table && rows_.are_coming(mapping.file, detail_));
  if (lookup.coming) {
    lookup.error = USC_BROKEN_ROW_MEMORY;  // for whoever cannot wait
  } else if (file->state == USC_FILE_UNREACHABLE) {
    lookup.error = USC_BROKEN_FILE_GONE;
  } else if (!lookup.table) {
    lookup.error = file->state == USC_FILE_USER_ONLY ? USC_BROKEN_ROW_MEMORY : USC_BROKEN_NO_ROWS;
  } else {
    const usc_file_rows rows = symbolizer::place_of(*lookup.table);
    auto* table = const_cast<symbolizer::UnwindTable*>(lookup.table.get());
    lookup.rule = usc_row_find(table, &rows, offset);
  }
  return lookup;
}

// As the kernel side's step_frame_pointer: by what the code is about to do if that can be read and seen.
std::uint32_t Walk::rule_of_code(std::uint32_t rule) const {
  if (USC_RULE_KIND(rule) != USC_RULE_FRAME_POINTER || !code_) return rule;
  const auto code = code_(frame_.pc);
  const std::uint32_t seen = code ? usc_rule_of_return(*code) : USC_RULE_NONE;
  return seen != USC_RULE_NONE ? seen : rule;
}

std::optional<std::uint8_t> Walk::pass_frame(UserStack& stack) {
  const auto mapping = find_mapping();
  if (!mapping) return broken(USC_BROKEN_NO_MAPPING);
  const auto lookup = look_up_pc(*mapping);
  if (!lookup) return broken(USC_BROKEN_FILE_GONE);
  const trace::FileId file = trace::file_of(lookup->frame);
  if (file == trace::kNoFile) stack.has_jit = true;
  const int admitted = usc_scope_admit(&scope_, &state_, file.value(), sample_.exe_file, lookup->classes);
  if ((admitted & USC_SCOPE_KEEP) != 0)
    stack.frames.push_back(lookup->frame | (frame_.exact != 0 ? USC_FRAME_EXACT : 0));
  if ((admitted & USC_SCOPE_STOP) != 0) return static_cast<std::uint8_t>(usc_scope_ended(&scope_));
  if (lookup->coming) stack.waits_for = file;
  if (lookup->error) return broken(*lookup->error);
  memory_.left = false;
  const int result = usc_step(&frame_, rule_of_code(lookup->rule), &memory_,
                              const_cast<symbolizer::UnwindTable*>(lookup->table.get()));
  if (result == USC_STEP_ROOT) return USC_ENDED_ROOT;
  if (result == USC_STEP_CALLER) return std::nullopt;
  const int error = -1 - result;
  return broken(error == USC_BROKEN_NOFAULT && memory_.left ? static_cast<int>(USC_BROKEN_COPY_LIMIT) : error);
}

UserStack Walk::run() {
  UserStack stack;
  frame_.pc = sample_.pc;
  std::memcpy(frame_.regs, sample_.regs, sizeof(frame_.regs));
  frame_.known = USC_KNOWN_ALL;
  frame_.exact = (sample_.flags & USC_SAMPLE_BEHIND) == 0 ? 1 : 0;
  for (int i = 0; i < kMaxSteps; i++) {
    if (const auto ended = pass_frame(stack)) {
      stack.ended = *ended;
      return stack;
    }
  }
  stack.ended = broken(USC_BROKEN_TOO_DEEP);
  return stack;
}

}  // namespace

UserStack walk_sample(const usc_sample& sample, const MappingTimeline& mappings, const FileTable& files,
                      UnwindTableSource& rows, const usc_scope& scope, const CodeReader& code) {
  using symbolizer::RowDetail;
  if (sample.reason != USC_DEFER_REGISTER) {
    UserStack stack = Walk(sample, mappings, files, rows, scope, code, RowDetail::kStack).run();
    if (stack.waits_for || stack.ended != broken(USC_BROKEN_REGISTER)) return stack;
  }
  return Walk(sample, mappings, files, rows, scope, code, RowDetail::kAllRegisters).run();
}

}  // namespace uscope::tracer
