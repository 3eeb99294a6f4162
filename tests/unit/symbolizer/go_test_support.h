// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A maker of Go function tables in each of their layouts, as runtime/symtab.go describes them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "symbolizer/go/go_pclntab.h"

namespace uscope::symbolizer {

struct MadeFunction {
  std::uint64_t start;
  std::string name;
  std::vector<std::pair<std::uint32_t, std::int32_t>> steps;  // bytes of code, and the delta there
  std::uint8_t flags = 0;
};

constexpr std::uint32_t kGo12Magic = 0xfffffffb;
constexpr std::uint32_t kGo116Magic = 0xfffffffa;
constexpr std::uint32_t kGo118Magic = 0xfffffff0;
constexpr std::uint32_t kGo120Magic = 0xfffffff1;

inline constexpr std::uint64_t kText = 0x401000;
inline const std::vector<Segment> kExec = {{0x1000, 0x1000, kText}};

class TableMaker {
 public:
  TableMaker(std::uint32_t magic, std::uint64_t text_start) : magic_(magic), text_start_(text_start) {}

  std::vector<std::uint8_t> make(const std::vector<MadeFunction>& functions, std::uint64_t limit) {
    const bool offsets = magic_ == kGo118Magic || magic_ == kGo120Magic;
    const std::size_t each = offsets ? 4 : 8;
    const std::uint64_t base = offsets ? text_start_ : 0;
    bytes_.clear();
    put(magic_, 4);
    put(0x08010000, 4);
    put(functions.size(), 8);
    std::size_t names_at = 0;
    std::size_t pctab_at = 0;
    std::size_t functab_at = 0;
    if (magic_ != kGo12Magic) {
      put(0, 8);
      if (offsets) put(text_start_, 8);
      names_at = reserve(8);
      put(0, 16);
      pctab_at = reserve(8);
      functab_at = reserve(8);
    }
    const std::size_t functab = bytes_.size();
    reserve((functions.size() * 2 + 1) * each);
    const std::size_t records = magic_ == kGo12Magic ? 0 : functab;
    const std::size_t names = magic_ == kGo12Magic ? 0 : bytes_.size();
    std::vector<std::size_t> name_offsets;
    for (const MadeFunction& function : functions) {
      name_offsets.push_back(bytes_.size() - names);
      bytes_.insert(bytes_.end(), function.name.begin(), function.name.end());
      put(0, 1);
    }
    const std::size_t pctab = magic_ == kGo12Magic ? 0 : bytes_.size();
    put(0, 1);  // an offset of 0 means none
    std::vector<std::size_t> step_offsets;
    for (const MadeFunction& function : functions) {
      step_offsets.push_back(function.steps.empty() ? 0 : bytes_.size() - pctab);
      put_steps(function);
    }
    while (bytes_.size() % 8 != 0) put(0, 1);
    for (std::size_t i = 0; i < functions.size(); i++) {
      set(functab + 2 * i * each, functions[i].start - base, each);
      set(functab + (2 * i + 1) * each, bytes_.size() - records, each);
      put(functions[i].start - base, each);
      put(name_offsets[i], 4);
      put(0, 8);
      put(step_offsets[i], 4);
      put(0, 12);
      if (magic_ != kGo12Magic) put(0, 4);
      if (magic_ == kGo120Magic) put(0, 4);
      put(0, 1);
      put(magic_ == kGo12Magic ? 0 : functions[i].flags, 1);
      put(0, 2);
    }
    set(functab + 2 * functions.size() * each, limit - base, each);
    if (magic_ != kGo12Magic) {
      set(names_at, names, 8);
      set(pctab_at, pctab, 8);
      set(functab_at, functab, 8);
    }
    return bytes_;
  }

 private:
  void put(std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; i++) bytes_.push_back(i < 8 ? static_cast<std::uint8_t>(value >> i * 8) : 0);
  }
  std::size_t reserve(std::size_t size) {
    bytes_.resize(bytes_.size() + size);
    return bytes_.size() - size;
  }
  void set(std::size_t at, std::uint64_t value, std::size_t size) { std::memcpy(bytes_.data() + at, &value, size); }
  void varint(std::uint32_t value) {
    for (; value >= 0x80; value >>= 7) put((value & 0x7f) | 0x80, 1);
    put(value, 1);
  }
  void put_steps(const MadeFunction& function) {
    if (function.steps.empty()) return;
    std::int32_t delta = -1;
    for (const auto& [length, next] : function.steps) {
      const std::int32_t change = next - delta;
      varint(change < 0 ? ~(static_cast<std::uint32_t>(change) << 1) : static_cast<std::uint32_t>(change) << 1);
      varint(length);
      delta = next;
    }
    put(0, 1);
  }

  std::uint32_t magic_;
  std::uint64_t text_start_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace uscope::symbolizer
