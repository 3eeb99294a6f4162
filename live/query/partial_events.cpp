// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/partial_events.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <unordered_map>

#include "live/query/quoted_name.h"
#include "store/db/reading_only.h"
#include "store/db/statement.h"
#include "trace/hit.h"
#include "uscope/query_rows.h"

namespace uscope::query {
namespace {

constexpr const char* kMeasureColumns[] = {"c", "s", "mn", "mx"};

bool is_null(const usc_query_key& key, std::size_t word) {
  return (key.nulls >> word & 1) != 0;
}

// What a key says of the event, without the numbers that are computed.
usc_query_key dimensions_of(usc_query_key key, const std::vector<KeyWord>& keys) {
  for (std::size_t i = 0; i < keys.size(); i++) {
    if (keys[i].what != Key::kExpression) continue;
    key.word[i] = 0;
    key.nulls &= ~(1U << i);
  }
  return key;
}

struct KeyHash {
  std::size_t operator()(const usc_query_key& key) const { return usc_query_hash(&key); }
};
struct KeySame {
  bool operator()(const usc_query_key& a, const usc_query_key& b) const { return usc_query_same_key(&a, &b) != 0; }
};

bool fits(__int128 sum) {
  return sum >= std::numeric_limits<std::int64_t>::min() && sum <= std::numeric_limits<std::int64_t>::max();
}

// The columns of the table of rows, by number: words that are expressions, n, and what is known of each measure.
std::vector<std::string> row_columns(const Plan& plan) {
  std::vector<std::string> columns;
  for (const KeyWord& key : plan.keys)
    if (key.what == Key::kExpression) columns.push_back(key.column);
  columns.emplace_back("n");
  for (std::size_t i = 0; i < plan.measures.size(); i++)
    for (const char* what : kMeasureColumns) columns.push_back(fmt::format("{}{}", what, i));
  return columns;
}

Result<std::vector<std::string>> columns_of(const store::Database& database, const std::string& sql) {
  const auto statement = database.prepare(sql);
  if (!statement) return statement.error();
  std::vector<std::string> columns;
  columns.reserve(static_cast<std::size_t>(statement->columns()));
  for (int i = 0; i < statement->columns(); i++) columns.push_back(statement->column_name(i));
  return columns;
}

// The view `partial`: rows with the columns of v_event that their events have, and a row for each whole event.
Result<void> make_view(const store::Database& database, const Plan& plan, std::size_t events) {
  const std::vector<std::string> own = row_columns(plan);
  auto columns = columns_of(database, plan.whole.empty() ? "SELECT * FROM main.v_event" : plan.whole);
  if (!columns) return columns.error();
  if (plan.whole.empty()) columns->insert(columns->begin(), own.begin(), own.end());
  std::string of_rows;
  std::string all;
  for (const std::string& name : *columns) {
    const bool is_own = std::find(own.begin(), own.end(), name) != own.end();
    const char* comma = all.empty() ? "" : ", ";
    of_rows +=
        fmt::format("{}{}.{} AS {}", comma, is_own ? "partial_row" : "event_row", quoted_name(name), quoted_name(name));
    all += comma + quoted_name(name);
  }
  std::string make = fmt::format(
      "CREATE TEMP VIEW partial AS SELECT {} FROM temp.partial_row JOIN main.v_event AS event_row ON event_row.id = "
      "partial_row.event",
      of_rows);
  // The name v_event is that of whole events from here on.
  if (!plan.whole.empty()) {
    make = fmt::format("CREATE TEMP VIEW v_event AS SELECT * FROM main.v_event WHERE id > {};", events) + make;
    make += fmt::format(" UNION ALL SELECT {} FROM ({})", all, plan.whole);
  }
  return store::execute(database.handle(), make);
}

}  // namespace

std::uint32_t stack_of(const usc_query_key& key, const std::vector<KeyWord>& keys) {
  for (std::size_t i = 0; i < keys.size(); i++)
    if (keys[i].what == Key::kStack && !is_null(key, i)) return static_cast<std::uint32_t>(key.word[i]);
  return 0;
}

std::vector<std::uint32_t> events_of(const PartialRows& rows, const std::vector<KeyWord>& keys) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(rows.size());
  std::unordered_map<usc_query_key, std::uint32_t, KeyHash, KeySame> known;
  for (std::size_t row = 0; row < rows.size(); row++)
    numbers.push_back(
        known.try_emplace(dimensions_of(rows.key(row), keys), static_cast<std::uint32_t>(known.size())).first->second);
  return numbers;
}

usc_event event_of(const usc_query_key& key, const std::vector<KeyWord>& keys, std::uint64_t number) {
  usc_event event{};
  event.head.type = USC_RECORD_EVENT;
  event.head.size = sizeof(event);
  event.head.time = event.entry_ns = number + 1;
  event.how = USC_HOW_RETURNED;
  event.flags = USC_EVENT_NO_RESULT;
  for (std::size_t i = 0; i < keys.size(); i++) {
    const std::int64_t word = key.word[i];
    if (is_null(key, i)) continue;
    switch (keys[i].what) {
      case Key::kSource:
        event.source = static_cast<std::uint8_t>(word);
        break;
      case Key::kKind:
        event.kind = static_cast<std::uint32_t>(word);
        break;
      case Key::kAbi:
        event.abi = static_cast<std::uint8_t>(word);
        break;
      case Key::kHow:
        event.how = static_cast<std::uint8_t>(word);
        break;
      case Key::kTask:
        event.head.task = static_cast<std::uint32_t>(word);
        break;
      case Key::kImage:
        event.image = static_cast<std::uint32_t>(word);
        break;
      case Key::kStack:
        event.stack = static_cast<std::uint32_t>(word);
        break;
      case Key::kError:
        if (word == 0) break;
        event.result = -word;
        event.flags &= static_cast<std::uint8_t>(~USC_EVENT_NO_RESULT);
        break;
      case Key::kResult:
        event.result = word;
        event.flags &= static_cast<std::uint8_t>(~USC_EVENT_NO_RESULT);
        break;
      default:  // an expression
        break;
    }
  }
  // An event that was attached to may have an error only where it returned.
  if (event.how == USC_HOW_ATTACHED) {
    event.how = USC_HOW_RETURNED;
    event.flags |= USC_EVENT_ATTACHED;
  }
  return event;
}

Result<void> append_event(IntervalTrace& to, const usc_event& event) {
  if (event.source == USC_SOURCE_SYSCALL) return to.append(event.head);
  if (trace::is_of_probes(event.source)) {
    usc_hit hit{};
    hit.head = event.head;
    hit.head.type = USC_RECORD_HIT;
    hit.head.size = sizeof(hit);
    hit.entry_ns = event.entry_ns;
    hit.result = event.result;
    std::copy(std::begin(event.args), std::end(event.args), std::begin(hit.args));
    hit.stack = event.stack;
    hit.image = event.image;
    hit.kind = event.kind;
    const bool lasts = event.how == USC_HOW_OPEN || event.how == USC_HOW_RETURNED;
    hit.how = lasts ? event.how : std::uint8_t{USC_HOW_HIT};
    hit.source = event.source;
    hit.flags = event.flags & (USC_EVENT_NO_RESULT | USC_EVENT_ATTACHED);
    return to.append(hit.head);
  }
  if (event.source != USC_SOURCE_SIGNAL) {
    usc_logged logged{};
    logged.head = event.head;
    logged.head.type = USC_RECORD_LOGGED;
    logged.head.size = sizeof(logged);
    logged.head.time = event.entry_ns;
    logged.kind = event.kind;
    logged.stack = event.stack;
    logged.image = event.image;
    logged.source = event.source;
    logged.values = USC_LOGGED_VALUES;
    std::copy(std::begin(event.args), std::end(event.args), std::begin(logged.value));
    return to.append(logged.head);
  }
  usc_signal signal{};
  signal.head = event.head;
  signal.head.type = USC_RECORD_SIGNAL;
  signal.head.size = sizeof(signal);
  signal.head.time = event.entry_ns;
  signal.stack = event.stack;
  signal.image = event.image;
  signal.number = static_cast<std::uint8_t>(event.kind);
  signal.flags = (event.kind & USC_SIGNAL_KIND_SENT) == 0 ? USC_SIGNAL_DELIVERED : 0;
  return to.append(signal.head);
}

Result<void> make_partial(const store::Database& database, const Plan& plan, const PartialRows& rows) {
  std::string columns;
  std::string places = "?1";
  int count = 1;
  for (const std::string& column : row_columns(plan)) {
    columns += ", " + quoted_name(column);
    places += fmt::format(", ?{}", ++count);
  }
  if (auto done =
          store::execute(database.handle(), "CREATE TEMP TABLE partial_row(event INTEGER NOT NULL" + columns + ")");
      !done)
    return done;
  auto insert = database.prepare("INSERT INTO temp.partial_row VALUES(" + places + ")");
  if (!insert) return insert.error();
  if (auto begun = store::execute(database.handle(), "BEGIN"); !begun) return begun;
  std::uint32_t events = 0;
  const std::vector<std::uint32_t> numbers = events_of(rows, plan.keys);
  for (std::size_t number = 0; number < rows.size(); number++) {
    const PartialRow row = rows[number];
    int place = 0;
    insert->bind(++place, std::int64_t{numbers[number]} + 1);
    events = std::max(events, numbers[number] + 1);
    for (std::size_t word = 0; word < plan.keys.size(); word++) {
      if (plan.keys[word].what != Key::kExpression) continue;
      insert->bind(++place, is_null(row.key, word) ? std::nullopt : std::optional<std::int64_t>(row.key.word[word]));
    }
    insert->bind(++place, row.events);
    for (std::size_t i = 0; i < plan.measures.size(); i++) {
      const WideSum& sum = row.sums[i];
      const auto some = [&sum](std::int64_t value) { return sum.count == 0 ? std::nullopt : std::optional(value); };
      insert->bind(++place, sum.count);
      insert->bind(++place, fits(sum.sum) ? some(static_cast<std::int64_t>(sum.sum)) : std::nullopt);
      insert->bind(++place, some(sum.least));
      insert->bind(++place, some(sum.greatest));
    }
    if (auto done = insert->execute(); !done) return done;
  }
  if (auto done = store::execute(database.handle(), "COMMIT"); !done) return done;
  return make_view(database, plan, events);
}

Result<void> check_sums(const store::Database& database, const Plan& plan, const PartialRows& rows) {
  store::ReadColumns read;
  store::allow_reading_only(database.handle(), &read);
  const auto outer = database.prepare(plan.outer);
  store::allow_reading_only(database.handle());
  if (!outer) return outer.error();
  for (std::size_t i = 0; i < plan.measures.size(); i++) {
    if (read.count({"partial", fmt::format("s{}", i)}) == 0) continue;
    for (std::size_t row = 0; row < rows.size(); row++)
      if (!fits(rows[row].sums[i].sum))
        return Error{"SQL: integer overflow", "sum(" + plan.measures[i] + ") is beyond 64 bits: total() gives a REAL"};
  }
  return {};
}

}  // namespace uscope::query
