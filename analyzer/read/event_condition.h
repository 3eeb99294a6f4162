// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A filter as the WHERE clause of a query over `event`, and the index that such a query is to use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_filter.h"
#include "store/db/database.h"
#include "store/db/statement.h"
#include "support/result.h"

namespace uscope::analyzer {

// The texts that match a path filter: alone, and as a folder with what begins there. As JSON arrays of ids.
struct PathMatches {
  std::string texts = "[]";
  std::string pairs = "[]";
};

[[nodiscard]] Result<PathMatches> match_paths(const store::Database& database, const std::vector<std::string>& globs);

// The WHERE clause of a filter. Each list of numbers is bound as one JSON array.
class Condition {
 public:
  Condition(const EventFilter& filter, const Catalog& catalog, const PathMatches& paths);

  // With `index`: only the terms that this index serves.
  [[nodiscard]] std::string where(const char* index = nullptr) const;

  // The indices that serve a term.
  [[nodiscard]] std::vector<const char*> indices() const;

  void add(const std::string& term, std::int64_t number) { add(term, {number, ""}, nullptr); }

  // A query with only some of the terms has parameters for only some of the values.
  [[nodiscard]] Result<store::Statement> prepare(const store::Database& database, const std::string& sql) const;

 private:
  struct Value {
    std::optional<std::int64_t> number;
    std::string text;
  };
  struct Term {
    std::string text;
    const char* index = nullptr;  // an index that serves it
  };

  std::string keep(Value value);

  // `term` holds one `?`, which is replaced by the value's parameter.
  void add(std::string term, Value value, const char* index);

  // `Number` is an integer or an id.
  template <typename Number>
  void add_any_of(const std::string& column, const std::vector<Number>& numbers, const char* index);

  // `before` alternative OR alternative … `after`; the alternatives are GLOBs of a function's name.
  void add_functions(const std::vector<std::string>& globs, const std::string& before);
  void add_tasks(const EventFilter& filter, const Catalog& catalog);
  void add_thread_names(const std::vector<std::string>& globs, const Catalog& catalog);
  void add_calls(const EventFilter& filter, const Catalog& catalog);
  // A number that a function returns is no error's.
  void add_results(const EventFilter& filter, const Catalog& catalog);
  void add_stacks(const EventFilter& filter);
  // A folder stands one argument before the path that begins there.
  void add_paths(const PathMatches& paths);

  std::vector<Term> terms_;
  std::vector<Value> values_;
};

// The index that leads to the fewest events, if those are few; else null. `events`: how many there are.
[[nodiscard]] Result<const char*> choose_index(const store::Database& database, const Condition& condition,
                                               std::int64_t events);

}  // namespace uscope::analyzer
