// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where a parameter lies at a function's first instruction is not read from DWARF's locations, which compilers describe
// for code behind the prologue, but from the types, as the ABI has it. All walks are bounded.
#include "symbolizer/names/debug_parameters.h"

#include <dwarf.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "support/type_text.h"

namespace uscope::symbolizer {
namespace {

constexpr int kMostTypeSteps = 12;
constexpr std::size_t kMostParameters = 64;
constexpr std::size_t kIntegerRegisters = 6;

std::optional<Dwarf_Die> type_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (dwarf_attr_integrate(die, DW_AT_type, &attribute) == nullptr) return std::nullopt;
  if (dwarf_formref_die(&attribute, &type) == nullptr) return std::nullopt;
  return type;
}

bool only_names_another(int tag) {
  return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
         tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

// The type behind typedefs and qualifiers; nullopt: void, or too many of them.
std::optional<Dwarf_Die> plain_type(std::optional<Dwarf_Die> type) {
  for (int i = 0; i < kMostTypeSteps && type; i++) {
    if (!only_names_another(dwarf_tag(&*type))) return type;
    type = type_of(&*type);
  }
  return std::nullopt;
}

std::uint64_t number_of(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr_integrate(die, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0) return 0;
  return value;
}

bool is_aggregate(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

const char* pointer_sign(int tag) {
  switch (tag) {
    case DW_TAG_pointer_type:
      return "*";
    case DW_TAG_reference_type:
      return "&";
    case DW_TAG_rvalue_reference_type:
      return "&&";
    default:
      return nullptr;
  }
}

// The name of a type that is named: of C with "struct" before it.
std::string type_name(Dwarf_Die type, const DwarfTexts& texts) {
  std::string name = texts.die_name(&type);
  if (name.empty()) return "…";
  const int tag = dwarf_tag(&type);
  Dwarf_Die unit;
  if (!is_aggregate(tag) && tag != DW_TAG_enumeration_type) return name;
  if (dwarf_diecu(&type, &unit, nullptr, nullptr) == nullptr || !is_c(dwarf_srclang(&unit))) return name;
  const char* word = tag == DW_TAG_enumeration_type ? "enum" : tag == DW_TAG_union_type ? "union" : "struct";
  return fmt::format("{} {}", word, name);
}

// A type as C writes it; functions and what is nested too deep are shortened.
std::string type_text(std::optional<Dwarf_Die> type, const DwarfTexts& texts) {
  TypeText text;
  for (int i = 0; i < kMostTypeSteps; i++) {
    if (!type) return text.of("void");
    const int tag = dwarf_tag(&*type);
    if (const char* sign = pointer_sign(tag))
      text.point(sign);
    else if (tag == DW_TAG_const_type)
      text.qualify("const");
    else if (tag == DW_TAG_volatile_type)
      text.qualify("volatile");
    else if (tag == DW_TAG_subroutine_type)
      return text.of("function");
    else if (!only_names_another(tag) || tag == DW_TAG_typedef)
      return text.of(type_name(*type, texts));
    type = type_of(&*type);
  }
  return "…";
}

bool is_char(std::optional<Dwarf_Die> type, const DwarfTexts& texts) {
  type = plain_type(type);
  return type && dwarf_tag(&*type) == DW_TAG_base_type && texts.die_name(&*type) == "char";
}

bool is_const_char_pointer(Dwarf_Die pointer, const DwarfTexts& texts) {
  std::optional<Dwarf_Die> to = type_of(&pointer);
  for (int i = 0; i < kMostTypeSteps && to; i++) {
    const int tag = dwarf_tag(&*to);
    if (tag == DW_TAG_const_type) return is_char(type_of(&*to), texts);
    if (!only_names_another(tag)) return false;
    to = type_of(&*to);
  }
  return false;
}

enum class Passed { kInteger, kVector, kUncertain };

// How a value of this type is passed; sets size and sign of an integer.
Passed passed_as(std::optional<Dwarf_Die> type, const DwarfTexts& texts, DebugParameter& out) {
  type = plain_type(type);
  if (!type) return Passed::kUncertain;
  const std::uint64_t bytes = number_of(&*type, DW_AT_byte_size);
  switch (dwarf_tag(&*type)) {
    case DW_TAG_pointer_type:
      out.points_to_text = is_const_char_pointer(*type, texts);
      return Passed::kInteger;
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
      return Passed::kInteger;
    case DW_TAG_enumeration_type:
    case DW_TAG_base_type:
      break;
    default:
      return Passed::kUncertain;
  }
  const std::uint64_t encoding = number_of(&*type, DW_AT_encoding);
  if (encoding == DW_ATE_float) return Passed::kVector;
  if (encoding == DW_ATE_complex_float || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
    return Passed::kUncertain;
  out.bytes = static_cast<std::uint8_t>(bytes);
  out.is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
  return Passed::kInteger;
}

// How many integer registers the result takes of those for parameters: one, if it is returned through a hidden pointer.
// Nullopt: not certain.
std::optional<std::size_t> registers_of_result(Dwarf_Die* function, bool plain_c) {
  std::optional<Dwarf_Die> type = plain_type(type_of(function));
  if (!type || !is_aggregate(dwarf_tag(&*type))) return 0;
  constexpr std::uint64_t kMostInRegisters = 16;
  if (number_of(&*type, DW_AT_byte_size) > kMostInRegisters) return 1;
  const std::uint64_t convention = number_of(&*type, DW_AT_calling_convention);
  if (convention == DW_CC_pass_by_reference) return 1;
  if (convention == DW_CC_pass_by_value || plain_c) return 0;
  return std::nullopt;
}

bool is_cpp(int language) {
  constexpr std::array kLanguages = {DW_LANG_C_plus_plus, DW_LANG_C_plus_plus_03, DW_LANG_C_plus_plus_11,
                                     DW_LANG_C_plus_plus_14};
  return std::find(kLanguages.begin(), kLanguages.end(), language) != kLanguages.end();
}

// A function that was compiled from an abstract one has its parameters there, whole and in order.
Dwarf_Die abstract_of(Dwarf_Die function) {
  Dwarf_Attribute attribute;
  Dwarf_Die origin;
  if (dwarf_attr(&function, DW_AT_abstract_origin, &attribute) != nullptr &&
      dwarf_formref_die(&attribute, &origin) != nullptr)
    return origin;
  return function;
}

}  // namespace

std::optional<std::vector<DebugParameter>> read_parameters(Dwarf_Die function, const DwarfTexts& texts) {
  Dwarf_Die unit;
  if (dwarf_diecu(&function, &unit, nullptr, nullptr) == nullptr) return std::nullopt;
  const int language = dwarf_srclang(&unit);
  if (!is_c(language) && !is_cpp(language)) return std::nullopt;
  const auto taken = registers_of_result(&function, is_c(language));
  if (!taken) return std::nullopt;
  std::size_t next = *taken;
  std::vector<DebugParameter> parameters;
  Dwarf_Die abstract = abstract_of(function);
  Dwarf_Die child;
  if (dwarf_child(&abstract, &child) != 0) return parameters;
  for (std::size_t i = 0; i < kMostParameters && next < kIntegerRegisters; i++) {
    if (dwarf_tag(&child) == DW_TAG_formal_parameter) {
      DebugParameter parameter;
      const auto type = type_of(&child);
      const Passed passed = passed_as(type, texts, parameter);
      if (passed == Passed::kUncertain) break;
      if (passed == Passed::kInteger) {
        parameter.name = texts.die_name(&child);
        parameter.type = type_text(type, texts);
        parameter.place = static_cast<std::uint8_t>(next++);
        parameters.push_back(std::move(parameter));
      }
    }
    Dwarf_Die following;
    if (dwarf_siblingof(&child, &following) != 0 || dwarf_dieoffset(&following) <= dwarf_dieoffset(&child)) break;
    child = following;
  }
  return parameters;
}

std::optional<DebugResult> read_result(Dwarf_Die function, const DwarfTexts& texts) {
  Dwarf_Die unit;
  if (dwarf_diecu(&function, &unit, nullptr, nullptr) == nullptr) return std::nullopt;
  const int language = dwarf_srclang(&unit);
  if (!is_c(language) && !is_cpp(language)) return std::nullopt;
  const auto type = type_of(&function);
  DebugResult result;
  result.type = type_text(type, texts);
  DebugParameter in_register;
  if (plain_type(type) && passed_as(type, texts, in_register) == Passed::kInteger) {
    result.bytes = in_register.bytes;
    result.is_signed = in_register.is_signed;
  }
  return result;
}

}  // namespace uscope::symbolizer
