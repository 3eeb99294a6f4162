// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One Dwfl for each address space: its modules are reported once and opened when a walk first meets them; each sample
// is walked as the only thread of a process, with the copy as its memory.
//
// The behaviour of libdwfl 0.188 on x86-64, and its consequences here:
// - It uses .eh_frame, then .debug_frame. If neither covers the pc it follows the frame pointer (ebl_unwind), which is
// a guess; this
//   file checks the coverage of each frame again, to report the first one without.
// - It ends a walk in the same way if the return address is undefined, is 0, or cannot be read; kRoot is only the first
//   of these.
// - It subtracts one from return addresses, but not after a signal frame, nor from the innermost pc: of a thread in a
// system
//   call, the walk is started inside the call's instruction. Its `isactivation` also holds for the signal
//   trampoline's own frame; OracleFrame::exact does not, so it is derived from the CFI's signal flag.
// - If CFI has no rule for a callee-saved register, libdwfl does not assume "same value" (its table of the ABI names
// another register), so
//   a CFA by it may end its walk early.
// Other limits: memory outside of the copy is read only from the files of mapped code. Separate debug files are not
// searched, neither on disk nor by debuginfod. Modules that cannot be read are left out, and a walk that meets them
// ends or falls back there.
#include "symbolizer/oracle/oracle.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "support/unique_fd.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/elf/vdso_image.h"
#include "symbolizer/go/go_sections.h"
#include "symbolizer/go/go_unwind.h"

namespace uscope::symbolizer {
namespace {

constexpr pid_t kThread = 1;  // any number: libdwfl does not use it for system calls
constexpr std::uint64_t kPageMask = 4095;
constexpr int kNoElf = -1;

// A module's CFI at an address.
struct Coverage {
  bool covered = false;
  bool signal_frame = false;
  bool root = false;  // the return address is undefined
};

bool look_up(Dwarf_CFI* cfi, Dwarf_Addr address, Coverage& coverage) {
  Dwarf_Frame* frame = nullptr;
  if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame) != 0) return false;
  const int return_address = dwarf_frame_info(frame, nullptr, nullptr, &coverage.signal_frame);
  Dwarf_Op memory[3];
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  coverage.root = dwarf_frame_register(frame, return_address, memory, &operations, &count) == 0 && count == 0 &&
                  operations == memory;
  std::free(frame);
  coverage.covered = true;
  return true;
}

// The load bias that puts a file offset at an address, from the executable segment that contains it (whole pages are
// mapped).
std::optional<std::uint64_t> bias_of(const ElfFacts& facts, std::uint64_t start, std::uint64_t offset) {
  for (const Segment& segment : facts.exec_segments)
    if (offset >= (segment.offset & ~kPageMask) && offset < segment.offset + segment.size)
      return start - (segment.address - segment.offset + offset);
  return std::nullopt;
}

}  // namespace

class Oracle::Space {
 public:
  Space(std::uint64_t mm, std::uint64_t version) : mm_(mm), version_(version) {}

  [[nodiscard]] std::uint64_t mm() const { return mm_; }
  [[nodiscard]] std::uint64_t version() const { return version_; }

  Result<void> open(std::span<const OracleModule> modules);
  OracleWalk walk(const OracleSample& sample);

 private:
  struct File {
    std::string name;
    UniqueFd fd;  // empty for the vdso
    ElfFacts facts;
    std::uint32_t number = 0;
    bool vdso = false;
    std::optional<std::vector<GoRange>> untrue_cfi;  // ELF addresses, by start; nullopt: not read yet
  };
  struct Mapping {
    std::uint64_t start;
    std::uint64_t end;
    std::uint64_t offset;
    const File* file;
  };

  File* file_of(const OracleModule& module);
  void report(const File& file, std::uint64_t bias);
  Coverage coverage_at(std::uint64_t address);
  static bool has_untrue_cfi(File& file, std::uint64_t address);
  std::uint64_t bytes_before(std::uint64_t pc, bool behind);
  bool read_word(std::uint64_t address, std::uint64_t& word);
  int take_frame(Dwfl_Frame* frame);
  void finish(int status);

  static int find_elf(Dwfl_Module* module, void** user, const char* name, Dwarf_Addr base, char** file_name, Elf** elf);
  static int find_no_debuginfo(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                               char**);
  static bool read_memory(Dwfl* dwfl, Dwarf_Addr address, Dwarf_Word* word, void* self);
  static bool set_registers(Dwfl_Thread* thread, void* self);
  static pid_t next_thread(Dwfl* dwfl, void* self, void** thread);
  static bool get_thread(Dwfl* dwfl, pid_t tid, void* self, void** thread);

  static const Dwfl_Callbacks kCallbacks;
  static const Dwfl_Thread_Callbacks kThreadCallbacks;

  std::uint64_t mm_;
  std::uint64_t version_;
  std::vector<std::unique_ptr<File>> files_;  // outlive dwfl_, which reads them
  std::vector<std::pair<const File*, std::uint64_t>> reported_;
  std::vector<Mapping> mappings_;
  DwflHandle dwfl_;

  // The current walk.
  const OracleSample* sample_ = nullptr;
  OracleWalk walk_;
  std::uint64_t first_pc_ = 0;
  bool left_copy_ = false;
  bool previous_signal_ = false;
  bool at_root_ = false;
};

const Dwfl_Callbacks Oracle::Space::kCallbacks = {&find_elf, &find_no_debuginfo, nullptr, nullptr};
const Dwfl_Thread_Callbacks Oracle::Space::kThreadCallbacks = {&next_thread,   &get_thread, &read_memory,
                                                               &set_registers, nullptr,     nullptr};

Oracle::Space::File* Oracle::Space::file_of(const OracleModule& module) {
  for (const auto& known : files_)
    if (known->number == module.file && known->vdso == module.vdso) return known.get();
  auto file = std::make_unique<File>();
  file->name = module.name;
  file->number = module.file;
  file->vdso = module.vdso;
  auto facts =
      module.vdso ? read_elf_facts_from_memory(vdso_image(), module.name) : read_elf_facts(module.fd, module.name);
  if (!facts) return nullptr;
  file->facts = std::move(*facts);
  if (!module.vdso) {
    file->fd.reset(fcntl(module.fd, F_DUPFD_CLOEXEC, 0));
    if (!file->fd) return nullptr;
  }
  files_.push_back(std::move(file));
  return files_.back().get();
}

void Oracle::Space::report(const File& file, std::uint64_t bias) {
  const std::pair<const File*, std::uint64_t> key(&file, bias);
  if (std::find(reported_.begin(), reported_.end(), key) != reported_.end()) return;
  reported_.push_back(key);
  Dwfl_Module* module =
      dwfl_report_module(dwfl_.get(), file.name.c_str(), bias + file.facts.load_start, bias + file.facts.load_end);
  void** user = nullptr;
  if (!module || !dwfl_module_info(module, &user, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr)) return;
  *user = const_cast<File*>(&file);
}

Result<void> Oracle::Space::open(std::span<const OracleModule> modules) {
  dwfl_.reset(dwfl_begin(&kCallbacks));
  if (!dwfl_) return Error{std::string("libdwfl: ") + dwfl_errmsg(-1), ""};
  dwfl_report_begin(dwfl_.get());
  for (const OracleModule& module : modules) {
    if (module.end <= module.start) continue;
    const File* file = file_of(module);
    if (!file) continue;
    const auto bias = bias_of(file->facts, module.start, module.offset);
    if (!bias) continue;
    mappings_.push_back({module.start, module.end, module.offset, file});
    report(*file, *bias);
  }
  if (dwfl_report_end(dwfl_.get(), nullptr, nullptr) != 0) return Error{std::string("libdwfl: ") + dwfl_errmsg(-1), ""};
  if (reported_.empty()) return Error{"no module of this address space can be read", ""};
  if (!dwfl_attach_state(dwfl_.get(), nullptr, kThread, &kThreadCallbacks, this))
    return Error{std::string("libdwfl cannot walk this address space: ") + dwfl_errmsg(-1), ""};
  return {};
}

int Oracle::Space::find_elf(Dwfl_Module*, void** user, const char*, Dwarf_Addr, char** file_name, Elf** elf) {
  const auto* file = static_cast<const File*>(*user);
  *file_name = nullptr;
  *elf = nullptr;
  if (!file) return kNoElf;
  auto opened = file->vdso ? open_elf_in_memory(vdso_image(), file->name) : open_elf(file->fd.get(), file->name);
  if (opened) *elf = opened->release();  // libdwfl ends it; the descriptor stays ours
  return kNoElf;
}

// Never searches, and never asks a server: DEBUGINFOD_URLS has no effect here.
int Oracle::Space::find_no_debuginfo(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                                     char**) {
  return -1;
}

pid_t Oracle::Space::next_thread(Dwfl*, void* self, void** thread) {
  if (*thread) return 0;
  *thread = self;
  return kThread;
}

bool Oracle::Space::get_thread(Dwfl*, pid_t tid, void* self, void** thread) {
  *thread = self;
  return tid == kThread;
}

bool Oracle::Space::set_registers(Dwfl_Thread* thread, void* self) {
  const auto* space = static_cast<const Space*>(self);
  static_assert(sizeof(Dwarf_Word) == sizeof(std::uint64_t));
  const auto& registers = space->sample_->registers;
  if (!dwfl_thread_state_registers(thread, 0, registers.size(), registers.data())) return false;
  dwfl_thread_state_register_pc(thread, space->first_pc_);
  return true;
}

bool Oracle::Space::read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* word, void* self) {
  return static_cast<Space*>(self)->read_word(address, *word);
}

bool Oracle::Space::read_word(std::uint64_t address, std::uint64_t& word) {
  const std::span<const std::byte> stack = sample_->stack;
  const std::uint64_t at = address - sample_->base;
  if (address >= sample_->base && stack.size() >= sizeof(word) && at <= stack.size() - sizeof(word)) {
    std::memcpy(&word, stack.data() + at, sizeof(word));
    return true;
  }
  for (const Mapping& mapping : mappings_) {
    if (mapping.file->vdso || address < mapping.start || address > mapping.end - sizeof(word)) continue;
    const std::uint64_t offset = mapping.offset + (address - mapping.start);
    if (pread(mapping.file->fd.get(), &word, sizeof(word), static_cast<off_t>(offset)) == sizeof(word)) return true;
  }
  left_copy_ = true;
  return false;
}

// Go's .debug_frame describes systemstack, asmcgocall and the like as if they stayed on their stack. After the switch
// it is false, and what libdwfl derives from it is no evidence: rows end the walk there.
bool Oracle::Space::has_untrue_cfi(File& file, std::uint64_t address) {
  if (!file.untrue_cfi) {
    file.untrue_cfi.emplace();
    const auto elf = open_elf(file.fd.get(), file.name);
    const auto table = elf ? read_go_pclntab(elf->get(), file.facts) : std::nullopt;
    std::vector<std::byte> code;
    const auto read_code = [&](std::uint64_t at, std::size_t bytes) -> std::span<const std::byte> {
      const auto offset = offset_of_address(file.facts.exec_segments, at);
      code.resize(bytes);
      const ssize_t got = offset ? pread(file.fd.get(), code.data(), bytes, static_cast<off_t>(*offset)) : 0;
      return std::span<const std::byte>(code).first(got > 0 ? static_cast<std::size_t>(got) : 0);
    };
    if (table) *file.untrue_cfi = go_untrue_cfi(*table, read_code);
  }
  const auto after = std::upper_bound(file.untrue_cfi->begin(), file.untrue_cfi->end(), address,
                                      [](std::uint64_t value, const GoRange& range) { return value < range.start; });
  return after != file.untrue_cfi->begin() && address < std::prev(after)->end;
}

Coverage Oracle::Space::coverage_at(std::uint64_t address) {
  Coverage coverage;
  Dwfl_Module* module = dwfl_addrmodule(dwfl_.get(), address);
  if (!module) return coverage;
  void** user = nullptr;
  Dwarf_Addr load_start = 0;
  dwfl_module_info(module, &user, &load_start, nullptr, nullptr, nullptr, nullptr, nullptr);
  auto* file = user ? static_cast<File*>(*user) : nullptr;
  if (file && !file->vdso && has_untrue_cfi(*file, address - load_start + file->facts.load_start)) return coverage;
  Dwarf_Addr bias = 0;
  Dwarf_CFI* eh = dwfl_module_eh_cfi(module, &bias);
  if (look_up(eh, address - bias, coverage)) return coverage;
  bias = 0;
  Dwarf_CFI* debug = dwfl_module_dwarf_cfi(module, &bias);
  look_up(debug, address - bias, coverage);
  return coverage;
}

int Oracle::Space::take_frame(Dwfl_Frame* frame) {
  Dwarf_Addr pc = 0;
  if (!dwfl_frame_pc(frame, &pc, nullptr)) return DWARF_CB_ABORT;
  const bool first = walk_.frames.empty();
  const Coverage coverage = coverage_at(first || previous_signal_ ? pc : pc - 1);
  const bool exact = first ? !sample_->behind : previous_signal_;
  previous_signal_ = coverage.signal_frame;
  at_root_ = coverage.root;
  left_copy_ = false;
  if (!coverage.covered && walk_.uncovered < 0) walk_.uncovered = static_cast<std::int32_t>(walk_.frames.size());
  walk_.frames.push_back({first ? sample_->pc : pc, exact});
  if (walk_.frames.size() < kMaxFrames) return DWARF_CB_OK;
  walk_.end = OracleEnd::kLimit;
  return DWARF_CB_ABORT;
}

// How far before the pc a walk starts. If no CFI covers where the pc is looked up, and it is directly after an FDE, or
// after a system call instruction directly after an FDE: at the last byte of that FDE.
std::uint64_t Oracle::Space::bytes_before(std::uint64_t pc, bool behind) {
  constexpr std::uint64_t kSyscallBytes = 2;
  constexpr std::uint64_t kSyscall = 0x050f;
  const std::uint64_t looked_up = behind ? 1 : 0;
  if (pc <= kSyscallBytes || coverage_at(pc - looked_up).covered) return looked_up;
  if (coverage_at(pc - 1).covered) return 1;
  std::uint64_t code = 0;
  if (!read_word(pc - kSyscallBytes, code) || (code & 0xffff) != kSyscall) return looked_up;
  return coverage_at(pc - kSyscallBytes - 1).covered ? kSyscallBytes + 1 : looked_up;
}

// libdwfl reports success even if it could not read the return address, or read 0.
void Oracle::Space::finish(int status) {
  if (status == 0 && at_root_) {
    walk_.end = OracleEnd::kRoot;
  } else if (left_copy_) {
    walk_.end = OracleEnd::kLeftCopy;
    walk_.error = "the copy of the stack ends before the next frame";
  } else {
    walk_.end = OracleEnd::kError;
    walk_.error = status == 0 ? "the return address is 0, or not known" : dwfl_errmsg(-1);
  }
}

OracleWalk Oracle::Space::walk(const OracleSample& sample) {
  sample_ = &sample;
  walk_ = {};
  left_copy_ = false;
  previous_signal_ = false;
  at_root_ = false;
  const std::uint64_t back = bytes_before(sample.pc, sample.behind);
  first_pc_ = sample.pc - back;
  walk_.begun_before_hole = back > (sample.behind ? 1 : 0);
  const auto take = [](Dwfl_Frame* frame, void* self) { return static_cast<Space*>(self)->take_frame(frame); };
  const int status = dwfl_getthread_frames(dwfl_.get(), kThread, take, this);
  if (walk_.end != OracleEnd::kLimit) finish(status);
  sample_ = nullptr;
  return std::move(walk_);
}

Oracle::Oracle(std::size_t spaces) : limit_(std::max<std::size_t>(spaces, 1)) {}
Oracle::~Oracle() = default;
Oracle::Oracle(Oracle&&) noexcept = default;
Oracle& Oracle::operator=(Oracle&&) noexcept = default;

bool Oracle::has(std::uint64_t mm, std::uint64_t version) const {
  return std::any_of(spaces_.begin(), spaces_.end(),
                     [&](const auto& space) { return space->mm() == mm && space->version() == version; });
}

Result<void> Oracle::set_modules(std::uint64_t mm, std::uint64_t version, std::span<const OracleModule> modules) {
  spaces_.remove_if([&](const auto& space) { return space->mm() == mm; });
  auto space = std::make_unique<Space>(mm, version);
  if (auto opened = space->open(modules); !opened) return opened;
  spaces_.push_front(std::move(space));
  while (spaces_.size() > limit_) spaces_.pop_back();
  return {};
}

Result<OracleWalk> Oracle::walk(std::uint64_t mm, const OracleSample& sample) {
  const auto found = std::find_if(spaces_.begin(), spaces_.end(), [&](const auto& space) { return space->mm() == mm; });
  if (found == spaces_.end()) return Error{fmt::format("the oracle has no modules of address space {}", mm), ""};
  spaces_.splice(spaces_.begin(), spaces_, found);
  return spaces_.front()->walk(sample);
}

}  // namespace uscope::symbolizer
