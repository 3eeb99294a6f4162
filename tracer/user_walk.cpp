#include "tracer/user_walk.h"

#include <cstring>
#include <optional>

#include "tracer/stack_copy.h"
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

static inline const usc_row* usc_row_at(void* tables, __u32 number) {
  const auto* table = static_cast<const uscope::symbolizer::RowTable*>(tables);
  return number < table->rows.size() ? &table->rows[number] : nullptr;
}

static inline const __u32* usc_index_at(void* tables, __u32 number) {
  const auto* table = static_cast<const uscope::symbolizer::RowTable*>(tables);
  return number < table->index.size() ? &table->index[number] : nullptr;
}

static inline const usc_rule* usc_rule_at(void* tables, __u32 number) {
  const auto* table = static_cast<const uscope::symbolizer::RowTable*>(tables);
  return table != nullptr && number < table->rules.size() ? &table->rules[number] : nullptr;
}

namespace uscope::tracer {
namespace {

constexpr int kMaxSteps = 4096;
constexpr __u32 kFramePointerRule = USC_RULE_COMPACT(USC_RULE_RBP, 2, 2);

struct Place {
  std::uint64_t frame = 0;
  std::uint32_t rule = USC_RULE_NONE;
  std::uint32_t classes = 0;
  symbolizer::RowTable* table = nullptr;
  std::optional<usc_unwind_error> error;  // for a frame that is known but cannot be stepped from
};

std::optional<Place> find_place(const usc_frame& frame, const Mapping& mapping, const FileTable& files) {
  Place place;
  const std::uint64_t address = frame.pc - (frame.exact != 0 ? 0 : 1);
  if (mapping.file == USC_FILE_NONE) {
    place.frame = USC_FRAME(USC_FILE_NONE, frame.pc & (USC_FRAME_EXACT - 1), 0);
    place.rule = kFramePointerRule;
    return place;
  }
  const File* file = files.find(mapping.file);
  const std::uint64_t offset = address - mapping.start + mapping.offset;
  place.frame = USC_FRAME(mapping.file, (offset + (frame.exact != 0 ? 0 : 1)) & (USC_FRAME_EXACT - 1), 0);
  if (file == nullptr || !file->met) return std::nullopt;
  place.classes = file->classes;
  if (file->state == USC_FILE_UNREACHABLE) {
    place.error = USC_BROKEN_FILE_GONE;
  } else if (!file->rows) {
    place.error = USC_BROKEN_NO_ROWS;
  } else {
    const symbolizer::RowTable& table = *file->rows;
    const usc_file_rows rows = {.row_base = 0,
                                .row_count = static_cast<__u32>(table.rows.size()),
                                .index_base = 0,
                                .rule_base = 0,
                                .rule_count = static_cast<__u32>(table.rules.size()),
                                .text_start = table.text_start,
                                .text_end = table.text_end,
                                .pad = 0};
    place.table = const_cast<symbolizer::RowTable*>(&table);
    place.rule = usc_row_find(place.table, &rows, offset, frame.exact != 0 ? 1 : 0);
  }
  return place;
}

std::uint8_t broken(int error) {
  return static_cast<std::uint8_t>(USC_ENDED_BROKEN + error);
}

}  // namespace

UserStack walk_sample(const usc_sample& sample, const MappingTimeline& mappings, const FileTable& files,
                      const usc_scope& scope) {
  UserStack stack;
  Memory memory{StackCopy(sample)};
  usc_frame frame{};
  frame.pc = sample.pc;
  std::memcpy(frame.regs, sample.regs, sizeof(frame.regs));
  frame.known = USC_KNOWN_ALL;
  frame.exact = 1;
  usc_scope_state state = {0, ~0u};
  for (int i = 0; i < kMaxSteps; i++) {
    const std::uint64_t address = frame.pc - (frame.exact != 0 ? 0 : 1);
    auto mapping = mappings.find(sample.mm, address, sample.head.time);
    if (!mapping) mapping = mappings.find_told_later(sample.mm, address, sample.head.time);
    if (!mapping) {
      stack.ended = broken(USC_BROKEN_NO_MAPPING);
      return stack;
    }
    const auto place = find_place(frame, *mapping, files);
    if (!place) {
      stack.ended = broken(USC_BROKEN_FILE_GONE);
      return stack;
    }
    if (mapping->file == USC_FILE_NONE) stack.has_jit = true;
    const int admitted = usc_scope_admit(&scope, &state, mapping->file, sample.exe_file, place->classes);
    if ((admitted & USC_SCOPE_KEEP) != 0)
      stack.frames.push_back(place->frame | (frame.exact != 0 ? USC_FRAME_EXACT : 0));
    if ((admitted & USC_SCOPE_STOP) != 0) {
      stack.ended = static_cast<std::uint8_t>(usc_scope_ended(&scope));
      return stack;
    }
    if (place->error) {
      stack.ended = broken(*place->error);
      return stack;
    }
    memory.left = false;
    const int result = usc_step(&frame, place->rule, &memory, place->table);
    if (result == USC_STEP_ROOT) {
      stack.ended = USC_ENDED_ROOT;
      return stack;
    }
    if (result < 0) {
      const int error = -1 - result;
      stack.ended =
          broken(error == USC_BROKEN_NOFAULT && memory.left ? static_cast<int>(USC_BROKEN_COPY_LIMIT) : error);
      return stack;
    }
  }
  stack.ended = broken(USC_BROKEN_TOO_DEEP);
  return stack;
}

}  // namespace uscope::tracer
