// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/plan/asked_sources.h"

#include <string_view>
#include <vector>

#include "query/plan/known_part.h"
#include "query/sql/lexer.h"
#include "trace/hit.h"
#include "trace/names.h"

namespace uscope::query {
namespace {

constexpr std::uint32_t kNoSource = USC_SOURCE_COUNT;  // its name is that of no class
constexpr std::string_view kNoClass = "\x01";
const std::vector<std::string_view> kColumns{"class"};

std::uint32_t named_sources(const std::string& text) {
  std::uint32_t named = 0;
  for (const Token& token : tokens_of(text)) {
    if (token.kind != TokenKind::kText) continue;
    for (std::uint32_t source = 0; source < USC_SOURCE_COUNT; source++)
      if (trace::is_of_probes(source) && token.word == trace::source_name(source)) named |= 1U << source;
  }
  return named;
}

}  // namespace

std::uint32_t asked_sources(const std::string& text, const Select* select) {
  if (select == nullptr) return named_sources(text);
  if (!select->where) return 0;
  std::vector<std::vector<std::string>> classes;
  for (std::uint32_t number = 0; number <= kNoSource; number++)
    classes.push_back({std::string(number == kNoSource ? kNoClass : trace::source_name(number))});
  const auto holds = where_holds(known_part(text, *select->where, kColumns), select->source_name, kColumns, classes);
  if (!holds) return named_sources(text);
  std::uint32_t asked = 0;
  for (std::uint32_t source = 0; source < USC_SOURCE_COUNT; source++)
    if (trace::is_of_probes(source) && holds->at(source) > holds->at(kNoSource)) asked |= 1U << source;
  return asked;
}

std::string names_of_sources(std::uint32_t sources) {
  std::string names;
  for (std::uint32_t source = 0; source < USC_SOURCE_COUNT; source++)
    if ((sources >> source & 1U) != 0) names += (names.empty() ? "" : ", ") + std::string(trace::source_name(source));
  return names;
}

}  // namespace uscope::query
