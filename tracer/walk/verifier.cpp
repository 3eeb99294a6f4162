// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// libdwfl's walk is brought into the same form as uscope's, frame words under the same scope, and compared position by
// position. Where libdwfl cannot tell (code without CFI, the end of the copy), the frames up to there are compared, and
// nothing is said of the rest.
#include "tracer/walk/verifier.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "support/kept_copies.h"
#include "trace/record_type.h"
#include "tracer/walk/stack_copy.h"

namespace uscope::tracer {

Verifier::Verifier(const MappingTimeline& mappings, FileTable& files, const usc_scope& scope, CompareObserver* observer)
    : mappings_(mappings), files_(files), scope_(scope), observer_(observer) {}

void Verifier::remember(const usc_stack& stack) {
  Kept kept;
  const auto frames = trace::frames_of(stack);
  kept.frames.assign(frames.begin(), frames.end());
  kept.ended = stack.ended;
  const trace::StackId id(stack.stack);
  if (!stacks_.emplace(id, std::move(kept)).second) return;
  order_.push_back(id);
  if (order_.size() <= kStacks) return;
  stacks_.erase(order_.front());
  order_.pop_front();
}

// A descriptor of a copy in memory, -1 if there is none. The oracle has duplicates of those that it uses still.
int Verifier::content_of(trace::FileId serial, const File& file) {
  if (const auto known = contents_.find(serial); known != contents_.end()) return known->second.get();
  FileContent content = files_.open_content(file);
  struct stat status {};
  if (!content.fd || fstat(content.fd.get(), &status) != 0) return -1;
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes > kContentBytes) return -1;
  if (!content.is_copy) {
    UniqueFd copy = copy_to_memory(content.fd.get(), 0, bytes);
    if (!copy || !files_.is_unchanged(file, content)) return -1;
    content.fd = std::move(copy);
  }
  if (content_bytes_ + bytes > kContentBytes) {
    contents_.clear();
    content_bytes_ = 0;
  }
  content_bytes_ += bytes;
  return contents_.insert_or_assign(serial, std::move(content.fd)).first->second.get();
}

bool Verifier::load_modules(const usc_sample& sample) {
  const trace::MmId mm(sample.mm);
  const std::uint64_t version = mappings_.version(mm, sample.head.time);
  if (oracle_.has(sample.mm, version)) return true;
  std::vector<symbolizer::OracleModule> modules;
  for (const Mapping& mapping : mappings_.all(mm, sample.head.time)) {
    const File* file = files_.find(mapping.file);
    const bool vdso = mapping.file == trace::kVdsoFile;
    if (is_jit(mapping.file, file) || file == nullptr) continue;
    symbolizer::OracleModule module;
    module.name = file->path;
    module.fd = vdso || !file->met ? -1 : content_of(mapping.file, *file);
    if (!vdso && module.fd < 0) continue;
    module.file = mapping.file.value();
    module.start = mapping.start;
    module.end = mapping.end;
    module.offset = mapping.offset;
    module.vdso = vdso;
    modules.push_back(std::move(module));
  }
  return static_cast<bool>(oracle_.set_modules(sample.mm, version, modules));
}

// The oracle's frames as words, as far as they are evidence, under the trace's scope. `whole`: nothing was left off.
std::vector<std::uint64_t> Verifier::scoped(const symbolizer::OracleWalk& walk, const usc_sample& sample,
                                            bool& whole) const {
  std::size_t count = walk.frames.size();
  whole = walk.end != symbolizer::OracleEnd::kLeftCopy && walk.end != symbolizer::OracleEnd::kLimit;
  if (walk.uncovered >= 0) {
    count = std::min(count, static_cast<std::size_t>(walk.uncovered) + 1);
    whole = false;
  }
  std::vector<std::uint64_t> words;
  usc_scope_state state = USC_SCOPE_START;
  for (std::size_t i = 0; i < count; i++) {
    const symbolizer::OracleFrame& frame = walk.frames[i];
    const std::uint64_t address = frame.pc - (frame.exact ? 0 : 1);
    const auto mapping = mappings_.find(trace::MmId(sample.mm), address, sample.head.time);
    if (!mapping) {
      whole = false;
      return words;
    }
    const File* file = files_.find(mapping->file);
    const bool jit = is_jit(mapping->file, file);
    const std::uint32_t serial = jit ? USC_FILE_NONE : mapping->file.value();
    const std::uint32_t classes = file != nullptr && !jit ? file->classes : 0;
    const int admitted = usc_scope_admit(&scope_, &state, serial, sample.exe_file, classes);
    if ((admitted & USC_SCOPE_KEEP) != 0)
      words.push_back(
          jit ? usc_frame_in_memory(frame.pc, frame.exact)
              : usc_frame_in_file(serial, frame.pc - mapping->start + mapping->offset, frame.pc, frame.exact));
    if ((admitted & USC_SCOPE_STOP) != 0) {
      whole = true;
      return words;
    }
  }
  return words;
}

std::optional<usc_verify> Verifier::check(const usc_sample& sample) {
  const auto kept = stacks_.find(trace::StackId(sample.stack));
  if (kept == stacks_.end() || !load_modules(sample)) return std::nullopt;
  symbolizer::OracleSample copy;
  std::copy(std::begin(sample.regs), std::end(sample.regs), copy.registers.begin());
  copy.pc = sample.pc;
  copy.behind = (sample.flags & USC_SAMPLE_BEHIND) != 0;
  copy.base = sample.base;
  copy.stack = StackCopy(sample).unbroken();
  const auto walk = oracle_.walk(sample.mm, copy);
  if (!walk) return std::nullopt;

  bool whole = false;
  const std::vector<std::uint64_t> oracle_frames = scoped(*walk, sample, whole);
  const std::vector<std::uint64_t>& uscope_frames = kept->second.frames;
  usc_verify outcome{};
  outcome.stack = sample.stack;
  outcome.uscope_depth = static_cast<__u32>(uscope_frames.size());
  outcome.oracle_depth = static_cast<__u32>(oracle_frames.size());
  outcome.first_difference = -1;
  const auto [mine, other] =
      std::mismatch(uscope_frames.begin(), uscope_frames.end(), oracle_frames.begin(), oracle_frames.end());
  // Frames that only we have are a difference where the oracle came to an end of its own; frames that only it has,
  // always. A call of a null pointer is an end to the oracle, and says nothing.
  const bool at_null = mine != uscope_frames.end() && *mine == usc_frame_in_memory(0, 1);
  bool differs = other != oracle_frames.end() || (mine != uscope_frames.end() && whole && !at_null);
  // A walk of uscope that broke off where the oracle goes on by CFI is one too, whatever is known of the mapping there.
  const std::size_t by_cfi = walk->uncovered >= 0 ? static_cast<std::size_t>(walk->uncovered) + 1 : walk->frames.size();
  if (kept->second.ended >= USC_ENDED_BROKEN && scope_.mode == USC_MODE_ALL_ALL && by_cfi > uscope_frames.size())
    differs = true;
  if (differs) outcome.first_difference = static_cast<__s32>(mine - uscope_frames.begin());
  if (observer_)
    observer_->on_compared({sample, uscope_frames, oracle_frames, kept->second.ended, !differs, mappings_, files_});
  return outcome;
}

}  // namespace uscope::tracer
