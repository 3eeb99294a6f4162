// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/probes/file_code.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "symbolizer/code/code_walk.h"

namespace uscope::symbolizer {
namespace {

// Code that walks read, for each byte of the file: functions may share parts, but not as hostile ones do.
constexpr std::uint64_t kMostSearches = 24;
// A called function is walked to see whether it returns, and those that it calls.
constexpr int kMostDepth = 2;

// Functions of the C and C++ libraries that never return, as calls in other files name them.
constexpr std::array<std::string_view, 23> kNeverReturn = {"abort",
                                                           "exit",
                                                           "_exit",
                                                           "_Exit",
                                                           "quick_exit",
                                                           "__stack_chk_fail",
                                                           "__assert_fail",
                                                           "__assert",
                                                           "__chk_fail",
                                                           "__fortify_fail",
                                                           "__cxa_throw",
                                                           "__cxa_rethrow",
                                                           "__cxa_bad_cast",
                                                           "_Unwind_Resume",
                                                           "longjmp",
                                                           "siglongjmp",
                                                           "__longjmp_chk",
                                                           "pthread_exit",
                                                           "__cxa_call_terminate",
                                                           "__cxa_throw_bad_array_new_length",
                                                           "__libc_fatal",
                                                           "__libc_start_main",
                                                           "thrd_exit"};

bool never_returns(std::string_view name) {
  if (name.ends_with("@plt")) name.remove_suffix(4);
  return std::find(kNeverReturn.begin(), kNeverReturn.end(), name) != kNeverReturn.end() ||
         name.starts_with("std::__throw_") || name == "std::terminate()";
}

}  // namespace

FileCode::FileCode(int fd, const ElfFacts& facts, Elf* elf, const std::vector<ElfSection>& sections)
    : fd_(fd), facts_(facts), sections_(sections), fdes_(sections) {
  relocations_ = Relocations(elf, [&](std::uint64_t address, std::size_t count) {
    std::vector<std::byte> bytes;
    const auto offset = offset_of_address(facts_.segments, address);
    if (!offset || *offset >= facts_.file_size) return bytes;
    bytes.resize(std::min<std::uint64_t>(count, facts_.file_size - *offset));
    const ssize_t got = pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(*offset));
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  });
}

void FileCode::know(const std::vector<FunctionSymbol>& symbols, const std::vector<FileFunction>& functions) {
  symbols_ = &symbols;
  functions_ = &functions;
  for (const FunctionSymbol& symbol : symbols)
    if (is_part(symbol.name) && symbol.size != 0) {
      parts_.push_back({symbol.start, symbol.start + symbol.size});
      named_parts_[symbol.name.substr(0, symbol.name.find(kPartSuffix))].push_back(parts_.back());
    }
  std::map<std::string_view, std::uint64_t> starts;
  for (const FunctionSymbol& symbol : symbols)
    if (const auto parts = named_parts_.find(symbol.name); parts != named_parts_.end())
      if (starts.try_emplace(symbol.name, symbol.start).first->second != symbol.start) parts->second.clear();
  for (const FileFunction& function : functions)
    if (function.proof != ProvenBy::kNothing) proven_.push_back(&function);
}

std::optional<std::uint64_t> FileCode::offset_of(std::uint64_t address) const {
  return offset_of_address(facts_.exec_segments, address);
}

std::vector<std::byte> FileCode::read(std::uint64_t address, std::size_t count) const {
  std::vector<std::byte> bytes;
  for (const Segment& segment : facts_.exec_segments) {
    if (address < segment.address || address - segment.address >= segment.size) continue;
    const std::uint64_t at = address - segment.address;
    bytes.resize(std::min<std::uint64_t>(count, segment.size - at));
    const ssize_t got = pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(segment.offset + at));
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    break;
  }
  return bytes;
}

const FileFunction* FileCode::proven_before(std::uint64_t address) const {
  const auto after = std::upper_bound(proven_.begin(), proven_.end(), address,
                                      [](std::uint64_t a, const FileFunction* b) { return a < b->start; });
  return after == proven_.begin() ? nullptr : *std::prev(after);
}

const FileFunction* FileCode::function_holding(std::uint64_t address) const {
  const FileFunction* function = proven_before(address);
  if (function == nullptr) return nullptr;
  const auto range = range_of(*function);
  return range && address < range->high ? function : nullptr;
}

void FileCode::add_named_parts(const FileFunction& function, std::vector<CodeRange>& ranges) {
  for (const std::string_view name : function.names) {
    const auto parts = named_parts_.find(name);
    if (parts == named_parts_.end()) continue;
    for (const CodeRange& part : parts->second)
      if (std::none_of(ranges.begin(), ranges.end(),
                       [&](const CodeRange& known) { return part.low < known.high && known.low < part.high; }))
        ranges.push_back(part);
    return;
  }
}

// Of functions that begin before it, only those nearby are looked at: names within a function stand close together.
const FileFunction* FileCode::function_around(const FileFunction& function) const {
  constexpr int kMostLooked = 8;
  auto at = std::lower_bound(proven_.begin(), proven_.end(), function.start,
                             [](const FileFunction* a, std::uint64_t b) { return a->start < b; });
  for (int i = 0; i < kMostLooked && at != proven_.begin(); i++)
    if (const FileFunction* before = *--at; before->whole > function.start - before->start) return before;
  return nullptr;
}

Result<CodeRange> FileCode::range_of(const FileFunction& function) const {
  CodeRange range{function.start, function.start + function.size};
  if (function.whole != 0) return range;
  const auto fde = fdes_.starting_at(function.start);
  if (!fde) return Error{"neither a symbol nor call frame information says where it ends", ""};
  range.high = std::min(function.size != 0 ? range.high : fde->high, fde->high);
  return range;
}

CodeSource FileCode::source() {
  CodeSource source;
  source.read = [this](const CodeRange& part) {
    searched_ += part.high - part.low;
    if (searched_ > kMostSearches * facts_.file_size) return std::vector<std::byte>();
    return read(part.low, part.high - part.low);
  };
  source.target = [this](std::uint64_t address) { return jump_target(address); };
  source.landing_pads = [this](const CodeRange& part) {
    if (!pads_read_) pads_ = LandingPads(sections_);
    pads_read_ = true;
    return pads_.within(part.low, part.high);
  };
  source.word = [this](std::uint64_t address, std::uint8_t bytes) { return word(address, bytes); };
  source.returns = [this](std::uint64_t address) { return returns(address); };
  source.is_at_fixed_address = !facts_.position_independent;
  return source;
}

std::optional<std::uint64_t> FileCode::word(std::uint64_t address, std::uint8_t bytes) const {
  const Relocations::Word says = relocations_.word_at(address);
  if (says.says == Relocations::Says::kUnknown) return std::nullopt;
  if (says.says == Relocations::Says::kAddress) return says.address;
  const auto offset = offset_of_address(facts_.segments, address);
  std::uint64_t value = 0;
  if (!offset || bytes > sizeof(value)) return std::nullopt;
  if (pread(fd_, &value, bytes, static_cast<off_t>(*offset)) != bytes) return std::nullopt;
  return value;
}

JumpTarget FileCode::jump_target(std::uint64_t address) const {
  using Is = JumpTarget::Is;
  const auto in_plt = [&](const ElfSection& section) {
    return section.name.starts_with(".plt") && address >= section.header.sh_addr && address < section.end();
  };
  if (std::any_of(sections_.begin(), sections_.end(), in_plt)) return {Is::kFunction, {}};
  const FileFunction* before = proven_before(address);
  if (before != nullptr && before->start == address) return {Is::kFunction, {}};
  if (before != nullptr && before->whole != 0 && address < before->start + before->size) return {Is::kMiddle, {}};
  // A label without a proof is the beginning of something, unless it lies in a function.
  if (names_at(address) != nullptr) return {Is::kFunction, {}};
  std::optional<CodeRange> part;
  if (const auto fde = fdes_.containing(address)) part = {fde->low, fde->high};
  for (const CodeRange& moved : parts_)
    if (!part && address >= moved.low && address < moved.high) part = moved;
  if (!part) return {Is::kUnknown, {}};
  if (before != nullptr && before->start >= part->low) return {Is::kMiddle, {}};
  const auto next = std::upper_bound(proven_.begin(), proven_.end(), address,
                                     [](std::uint64_t a, const FileFunction* b) { return a < b->start; });
  if (next != proven_.end()) part->high = std::min(part->high, (*next)->start);
  return {Is::kPart, *part};
}

const FileFunction* FileCode::names_at(std::uint64_t address) const {
  const auto function = std::lower_bound(functions_->begin(), functions_->end(), address,
                                         [](const FileFunction& a, std::uint64_t b) { return a.start < b; });
  return function != functions_->end() && function->start == address ? &*function : nullptr;
}

std::string FileCode::name_at(std::uint64_t address) const {
  const FileFunction* function = names_at(address);
  if (function != nullptr && !function->names.empty()) return std::string(function->names.front());
  const auto stub = plt_->containing(address);
  return stub ? stub->function : "";
}

bool FileCode::returns(std::uint64_t address) {
  // True while it is being found out: recursion. How deep the question is asked decides how thorough the answer is.
  const auto [known, is_new] = returns_.try_emplace({address, depth_}, true);
  if (!is_new) return known->second;
  return returns_[{address, depth_}] = may_return(address);
}

bool FileCode::may_return(std::uint64_t address) {
  if (!plt_) plt_.emplace(sections_, SymbolTable());
  const std::string name = name_at(address);
  if (never_returns(name)) return false;
  const FileFunction* function = function_holding(address);
  if (depth_ == kMostDepth || function == nullptr || function->start != address || function->ifunc) return true;
  const auto range = range_of(*function);
  if (!range) return true;
  const CodeSource code = source();
  depth_++;
  const auto ends = find_function_ends(*range, code);
  depth_--;
  return !ends || !ends->returns.empty() || !ends->jumps.empty() || !ends->indirect.empty() || !ends->doubt.empty();
}

}  // namespace uscope::symbolizer
