// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/reading_only.h"

#include <fmt/core.h>

#include <array>
#include <string_view>
#include <utility>

namespace uscope::store {
namespace {

bool may_ask(std::string_view pragma) {
  constexpr std::array kDescribing{"table_info", "table_xinfo", "table_list",   "index_list",
                                   "index_info", "index_xinfo", "user_version", "application_id"};
  for (const char* name : kDescribing)
    if (pragma == name) return true;
  return false;
}

int allow_reading(void* seen, int action, const char* first, const char* second, const char*, const char* inside) {
  const auto is = [](const char* text, std::string_view name) { return text && name == text; };
  switch (action) {
    case SQLITE_READ:
      if (seen != nullptr && inside == nullptr && first && second && *second != '\0')
        static_cast<ReadColumns*>(seen)->emplace(first, second);
      return SQLITE_OK;
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return is(second, "load_extension") ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: {
      const bool sets = second && (is(first, "user_version") || is(first, "application_id"));
      return first && may_ask(first) && !sets ? SQLITE_OK : SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

}  // namespace

void allow_reading_only(sqlite3* database, ReadColumns* seen) {
  // The first use of a PRAGMA as a table declares that table, which SQLite reports as a change of the schema.
  for (const char* table : {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo"})
    sqlite3_exec(database, fmt::format("SELECT 1 FROM pragma_{} LIMIT 0", table).c_str(), nullptr, nullptr, nullptr);
  sqlite3_set_authorizer(database, allow_reading, seen);
}

void allow_reading_only_while(sqlite3* database, const bool* on) {
  const auto allow = [](void* reading, int action, const char* first, const char* second, const char* third,
                        const char* inside) {
    return *static_cast<const bool*>(reading) ? allow_reading(nullptr, action, first, second, third, inside)
                                              : SQLITE_OK;
  };
  sqlite3_set_authorizer(database, allow, const_cast<bool*>(on));  // SQLite's way to hand a pointer through
}

Result<void> harden(sqlite3* database) {
  constexpr std::array<std::pair<int, int>, 5> kSettings{{{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                                          {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                                          {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                                          {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                                          {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}}};
  for (const auto& [setting, value] : kSettings)
    if (sqlite3_db_config(database, setting, value, nullptr) != SQLITE_OK)
      return Error{fmt::format("this SQLite refuses the setting {}", setting), "use SQLite 3.31 or later"};
  // The longest texts, folded stacks of C++ names, are some megabytes. A damaged file may declare any length.
  constexpr int kLongestValue = 64 << 20;
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(database, SQLITE_LIMIT_TRIGGER_DEPTH, 0);
  sqlite3_limit(database, SQLITE_LIMIT_WORKER_THREADS, 0);
  return {};
}

}  // namespace uscope::store
