// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/plan/columns.h"

namespace uscope::query {
namespace {

constexpr Column number(std::string_view name, usc_query_field field) {
  return {name, ColumnKind::kNumber, field, 0};
}

constexpr Column dimension(std::string_view name, std::uint32_t words) {
  return {name, ColumnKind::kDimension, USC_QUERY_FIELD_COUNT, words};
}

}  // namespace

const std::vector<Column>& all_columns() {
  constexpr std::uint32_t kKindWords = bit_of(Key::kSource) | bit_of(Key::kKind) | bit_of(Key::kAbi);
  static const std::vector<Column> columns{
      {"id", ColumnKind::kUnknown, USC_QUERY_FIELD_COUNT, 0},
      number("ts_ns", USC_QUERY_TIME),
      number("dur_ns", USC_QUERY_TOOK),
      dimension("how", bit_of(Key::kHow)),
      dimension("pid", bit_of(Key::kTask)),
      dimension("tid", bit_of(Key::kTask)),
      dimension("uid", bit_of(Key::kTask) | bit_of(Key::kGuise)),
      dimension("process", bit_of(Key::kTask) | bit_of(Key::kImage)),
      dimension("thread", bit_of(Key::kTask) | bit_of(Key::kGuise)),
      dimension("kind", kKindWords),
      dimension("class", bit_of(Key::kSource)),
      number("result", USC_QUERY_RESULT),
      dimension("errno", bit_of(Key::kError)),
      number("a0", USC_QUERY_ARG0),
      number("a1", USC_QUERY_ARG1),
      number("a2", USC_QUERY_ARG2),
      number("a3", USC_QUERY_ARG3),
      number("a4", USC_QUERY_ARG4),
      number("a5", USC_QUERY_ARG5),
      {"object", ColumnKind::kUnknown, USC_QUERY_FIELD_COUNT, 0},
      {"object_kind", ColumnKind::kUnknown, USC_QUERY_FIELD_COUNT, 0},
      dimension("stack_id", bit_of(Key::kStack)),
      dimension("depth", bit_of(Key::kStack)),
      dimension("ended", bit_of(Key::kStack)),
      dimension("trigger", bit_of(Key::kStack)),
      dimension("trigger_module", bit_of(Key::kStack)),
      dimension("folded", bit_of(Key::kStack)),
      dimension("cgroup", bit_of(Key::kTask)),
      dimension("container", bit_of(Key::kTask)),
  };
  return columns;
}

const Column* find_column(std::string_view name) {
  for (const Column& column : all_columns())
    if (column.name == name) return &column;
  return nullptr;
}

usc_query_field field_of(Key key) {
  switch (key) {
    case Key::kSource:
      return USC_QUERY_SOURCE;
    case Key::kKind:
      return USC_QUERY_KIND;
    case Key::kAbi:
      return USC_QUERY_ABI;
    case Key::kHow:
      return USC_QUERY_HOW;
    case Key::kTask:
      return USC_QUERY_TASK;
    case Key::kImage:
      return USC_QUERY_IMAGE;
    case Key::kGuise:
      return USC_QUERY_GUISE;
    case Key::kStack:
      return USC_QUERY_STACK;
    case Key::kError:
      return USC_QUERY_ERROR;
    case Key::kResult:
      return USC_QUERY_RESULT;
    case Key::kTime:
      return USC_QUERY_TIME;
    case Key::kTook:
      return USC_QUERY_TOOK;
    case Key::kExpression:
      break;
  }
  return USC_QUERY_FIELD_COUNT;
}

}  // namespace uscope::query
