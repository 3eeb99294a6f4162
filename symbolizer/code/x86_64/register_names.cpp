// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/register_names.h"

#include <array>
#include <charconv>

namespace uscope::symbolizer {
namespace {

// DWARF numbers of the integer registers, under each of their names.
struct RegisterName {
  std::string_view name;
  std::uint8_t number;
};
constexpr std::array<RegisterName, 34> kRegisterNames = {
    {{"rax", 0}, {"eax", 0}, {"ax", 0},  {"al", 0},  {"rdx", 1}, {"edx", 1},  {"dx", 1},  {"dl", 1},  {"rcx", 2},
     {"ecx", 2}, {"cx", 2},  {"cl", 2},  {"rbx", 3}, {"ebx", 3}, {"bx", 3},   {"bl", 3},  {"rsi", 4}, {"esi", 4},
     {"si", 4},  {"sil", 4}, {"rdi", 5}, {"edi", 5}, {"di", 5},  {"dil", 5},  {"rbp", 6}, {"ebp", 6}, {"bp", 6},
     {"bpl", 6}, {"rsp", 7}, {"esp", 7}, {"sp", 7},  {"spl", 7}, {"rip", 16}, {"eip", 16}}};

}  // namespace

std::optional<std::uint8_t> register_of_name(std::string_view name) {
  for (const RegisterName& known : kRegisterNames)
    if (known.name == name) return known.number;
  if (!name.starts_with('r')) return std::nullopt;
  std::string_view digits = name.substr(1);  // r8, r8d, r8w, r8b
  if (digits.ends_with('d') || digits.ends_with('w') || digits.ends_with('b')) digits.remove_suffix(1);
  std::uint8_t number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (problem != std::errc() || end != digits.data() + digits.size() || number < 8 || number > 15) return std::nullopt;
  return number;
}

}  // namespace uscope::symbolizer
