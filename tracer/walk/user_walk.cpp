// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/user_walk.h"

#include <unistd.h>

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
  bool guess = false;                     // the rule is one, though the code has a file
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
  Walk(const usc_sample& sample, const MappingTimeline& mappings, FileTable& files, UnwindTableSource& rows,
       const usc_scope& scope, const CodeSources& code, symbolizer::RowDetail detail)
      : sample_(sample), mappings_(mappings), files_(files), rows_(rows), scope_(scope), code_(code), detail_(detail) {}

  UserStack run();

 private:
  [[nodiscard]] std::optional<Mapping> find_mapping(std::uint64_t address) const;
  std::optional<PcLookup> look_up_pc(const Mapping& mapping);
  [[nodiscard]] std::optional<std::uint64_t> code_at(std::uint64_t address) const;
  [[nodiscard]] std::uint32_t rule_of_code(std::uint32_t rule) const;
  bool is_code(trace::FileId serial, const File& file);
  [[nodiscard]] bool is_bad_call() const;
  std::optional<std::uint8_t> pass_bad_call(UserStack& stack);
  std::optional<std::uint8_t> end_of_step(int result) const;
  // Nothing: to the next frame. Otherwise how the stack ends.
  std::optional<std::uint8_t> pass_frame(UserStack& stack);

  const usc_sample& sample_;
  const MappingTimeline& mappings_;
  FileTable& files_;
  UnwindTableSource& rows_;
  const usc_scope& scope_;
  const CodeSources& code_;
  const symbolizer::RowDetail detail_;
  Memory memory_{StackCopy(sample_)};
  usc_frame frame_{};
  trace::FileId no_elf_;  // USC_SAMPLE_NO_ELF: which file that is
  usc_scope_state state_ = USC_SCOPE_START;
};

std::optional<Mapping> Walk::find_mapping(std::uint64_t address) const {
  const trace::MmId mm(sample_.mm);
  auto mapping = mappings_.find(mm, address, sample_.head.time);
  return mapping ? mapping : mappings_.find_announced_later(mm, address, sample_.head.time);
}

// No ELF file. Of one that can no longer be opened, the kernel side may have seen that: it stopped there, having rows
// of all files before.
bool Walk::is_code(trace::FileId serial, const File& file) {
  if (file.state == USC_FILE_CODE) return true;
  if (file.state != USC_FILE_UNREACHABLE || (sample_.flags & USC_SAMPLE_NO_ELF) == 0) return false;
  if (!no_elf_) no_elf_ = serial;
  return no_elf_ == serial;
}

// Nothing where the file is not known.
std::optional<PcLookup> Walk::look_up_pc(const Mapping& mapping) {
  PcLookup lookup;
  const File* file = files_.find(mapping.file);
  if (is_jit(mapping.file, file)) {
    lookup.frame = usc_frame_in_memory(frame_.pc, 0);
    lookup.rule = USC_RULE_FRAME_POINTER;
    return lookup;
  }
  if (file == nullptr || (!file->met && !file->coming)) return std::nullopt;
  const std::uint64_t offset = lookup_address(frame_) - mapping.start + mapping.offset;
  lookup.frame = usc_frame_in_file(mapping.file.value(), offset + (frame_.exact != 0 ? 0 : 1), frame_.pc, 0);
  lookup.classes = file->classes;
  lookup.table = rows_.get(mapping.file, detail_);
  lookup.coming = file->coming || (!lookup.table && rows_.are_coming(mapping.file, detail_));
  if (lookup.coming) {
    lookup.error = USC_BROKEN_ROW_MEMORY;  // for whoever cannot wait
  } else if (is_code(mapping.file, *file)) {
    lookup.rule = USC_RULE_FRAME_POINTER;
    lookup.guess = true;
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

// The process, or, when that has ended, the file that was mapped there.
std::optional<std::uint64_t> Walk::code_at(std::uint64_t address) const {
  if (const auto code = code_.memory ? code_.memory(address) : std::nullopt) return code;
  const auto mapping = find_mapping(address);
  const File* file = mapping ? files_.find(mapping->file) : nullptr;
  if (file == nullptr || !file->met) return std::nullopt;
  const FileContent content = files_.open_content(*file);
  const auto offset = static_cast<off_t>(address - mapping->start + mapping->offset);
  std::uint64_t code = 0;
  if (!content.fd || pread(content.fd.get(), &code, sizeof(code), offset) != sizeof(code)) return std::nullopt;
  return code;
}

// As the kernel side's step_frame_pointer: by what the code is about to do if that can be read and seen.
std::uint32_t Walk::rule_of_code(std::uint32_t rule) const {
  if (USC_RULE_KIND(rule) != USC_RULE_FRAME_POINTER || !code_.memory) return rule;
  const auto code = code_.memory(frame_.pc);
  const std::uint32_t seen = code ? usc_rule_of_return(*code) : USC_RULE_NONE;
  return seen != USC_RULE_NONE ? seen : rule;
}

std::optional<std::uint8_t> Walk::end_of_step(int result) const {
  if (result == USC_STEP_ROOT) return USC_ENDED_ROOT;
  if (result == USC_STEP_CALLER) return std::nullopt;
  const int error = -1 - result;
  return broken(error == USC_BROKEN_NOFAULT && memory_.left ? static_cast<int>(USC_BROKEN_COPY_LIMIT) : error);
}

// Where nothing is mapped, a mapping may only not have been told of yet; where the thread itself was met, one must be.
// But Linux lets nobody map the lowest addresses (vm.mmap_min_addr).
bool Walk::is_bad_call() const {
  constexpr std::uint64_t kLowestCode = 0x10000;
  if (frame_.exact == 0) return false;
  return frame_.pc < kLowestCode || (code_.mappings_are_told && frame_.pc != sample_.pc);
}

// As the kernel side's step_bad_call.
std::optional<std::uint8_t> Walk::pass_bad_call(UserStack& stack) {
  stack.has_jit = true;
  const int admitted = usc_scope_admit(&scope_, &state_, USC_FILE_NONE, sample_.exe_file, 0);
  if ((admitted & USC_SCOPE_KEEP) != 0) stack.frames.push_back(usc_frame_in_memory(frame_.pc, 1));
  if ((admitted & USC_SCOPE_STOP) != 0) return static_cast<std::uint8_t>(usc_scope_ended(admitted));
  memory_.left = false;
  __u64 caller = 0;
  if (usc_read_u64(&memory_, frame_.regs[USC_REG_SP], &caller) != 0)
    return end_of_step(USC_STEP_BROKEN(USC_BROKEN_NOFAULT));
  const auto code = code_at(caller - sizeof(caller));
  return end_of_step(code ? usc_step_bad_call(&frame_, *code, &memory_) : USC_STEP_BROKEN(USC_BROKEN_NO_MAPPING));
}

std::optional<std::uint8_t> Walk::pass_frame(UserStack& stack) {
  const auto mapping = find_mapping(lookup_address(frame_));
  if (!mapping && is_bad_call()) return pass_bad_call(stack);
  if (!mapping) return broken(USC_BROKEN_NO_MAPPING);
  const auto lookup = look_up_pc(*mapping);
  if (!lookup) return broken(USC_BROKEN_FILE_GONE);
  const trace::FileId file = trace::file_of(lookup->frame);
  if (file == trace::kNoFile || lookup->guess) stack.has_jit = true;
  const int admitted = usc_scope_admit(&scope_, &state_, file.value(), sample_.exe_file, lookup->classes);
  if ((admitted & USC_SCOPE_KEEP) != 0)
    stack.frames.push_back(lookup->frame | (frame_.exact != 0 ? USC_FRAME_EXACT : 0));
  if ((admitted & USC_SCOPE_STOP) != 0) return static_cast<std::uint8_t>(usc_scope_ended(admitted));
  if (lookup->coming) stack.waits_for = file;
  if (lookup->error) return broken(*lookup->error);
  memory_.left = false;
  const int result = usc_step(&frame_, rule_of_code(lookup->rule), &memory_,
                              const_cast<symbolizer::UnwindTable*>(lookup->table.get()));
  return end_of_step(result);
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

UserStack walk_sample(const usc_sample& sample, const MappingTimeline& mappings, FileTable& files,
                      UnwindTableSource& rows, const usc_scope& scope, const CodeSources& code) {
  using symbolizer::RowDetail;
  if (sample.reason != USC_DEFER_REGISTER) {
    UserStack stack = Walk(sample, mappings, files, rows, scope, code, RowDetail::kStack).run();
    if (stack.waits_for || stack.ended != broken(USC_BROKEN_REGISTER)) return stack;
  }
  return Walk(sample, mappings, files, rows, scope, code, RowDetail::kAllRegisters).run();
}

}  // namespace uscope::tracer
