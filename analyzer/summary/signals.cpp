// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/summary/signals.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/read/query.h"
#include "analyzer/read/trigger_modules.h"
#include "uscope/record.h"

namespace uscope::analyzer {

namespace {

using Lines = std::map<std::int64_t, SignalLine>;

constexpr const char* kTriggerOfEvent =
    " FROM signal s JOIN event e ON e.id = s.event_id LEFT JOIN stack ON stack.id = e.stack_id "
    "LEFT JOIN frame f ON f.id = stack.trigger_frame_id LEFT JOIN module m ON m.id = f.module_id ";

// From columns 3 to 6: function, module, whether it is no function of the application, number of events.
void add_place(const SqlRow& row, std::vector<SignalLine::Place>& places) {
  if (row.is_null(3)) return;
  const auto known = std::find_if(places.begin(), places.end(), [&](const SignalLine::Place& place) {
    return place.function == row.text(3) && place.module == row.text(4);
  });
  const auto events = static_cast<std::uint64_t>(row.integer(6));
  if (known != places.end())
    known->events += events;
  else
    places.push_back({text(row, 3), text(row, 4), row.integer(5) != 0, events});
}

Result<void> read_sent(const store::Database& database, Lines& lines) {
  auto done = each_row(
      database,
      std::string(
          "SELECT s.number, s.sender_pid, s.receiver_pid, f.function, m.path, min(stack.trigger_fallback), count(*), "
          "max(s.sender), max(s.receiver), total(s.result = 'ignored')") +
          kTriggerOfEvent + "WHERE s.result IS NOT NULL GROUP BY 1, 2, 3, 4, 5 ORDER BY 7 DESC, 2, 3, 4, 5",
      [&](const SqlRow& row) {
        auto& pairs = lines[row.integer(0)].pairs;
        const std::optional<std::int64_t> sender = row.maybe_integer(1);
        auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const SignalLine::Pair& one) {
          return one.sender.pid == sender && one.receiver.pid == row.integer(2);
        });
        if (pair == pairs.end())
          pair = pairs.insert(pair, SignalLine::Pair{.sender = {sender, text(row, 7)},
                                                     .receiver = {row.integer(2), text(row, 8)},
                                                     .sent_from = {},
                                                     .interrupted_in = {}});
        pair->sent += static_cast<std::uint64_t>(row.integer(6));
        pair->ignored += static_cast<std::uint64_t>(row.integer(9));
        add_place(row, pair->sent_from);
      });
  for (auto& [number, line] : lines)
    std::stable_sort(line.pairs.begin(), line.pairs.end(),
                     [](const SignalLine::Pair& a, const SignalLine::Pair& b) { return a.sent > b.sent; });
  return done;
}

// A delivery does not say who sent the signal, but its siginfo may have a pid.
SignalLine::Pair& pair_of_delivery(std::vector<SignalLine::Pair>& pairs, const SignalParty& receiver,
                                   const std::optional<std::int64_t>& info_pid) {
  SignalLine::Pair* found = nullptr;
  for (SignalLine::Pair& pair : pairs) {
    if (pair.receiver.pid != receiver.pid) continue;
    if (!found || pair.sender.pid == info_pid || (!pair.sender.pid && found->sender.pid != info_pid)) found = &pair;
  }
  if (found) return *found;
  return pairs.emplace_back(
      SignalLine::Pair{.sender = {}, .receiver = receiver, .sent_from = {}, .interrupted_in = {}});
}

Result<void> read_delivered(const store::Database& database, Lines& lines) {
  return each_row(
      database,
      std::string(
          "SELECT s.number, s.receiver_pid, s.info_pid, f.function, m.path, min(stack.trigger_fallback), count(*), "
          "max(s.receiver)") +
          kTriggerOfEvent + "WHERE s.result IS NULL GROUP BY 1, 2, 3, 4, 5 ORDER BY 7 DESC, 2, 3, 4, 5",
      [&](const SqlRow& row) {
        SignalLine::Pair& pair =
            pair_of_delivery(lines[row.integer(0)].pairs, {row.integer(1), text(row, 7)}, row.maybe_integer(2));
        pair.delivered += static_cast<std::uint64_t>(row.integer(6));
        add_place(row, pair.interrupted_in);
      });
}

}  // namespace

Result<std::vector<SignalLine>> read_signals(const store::Database& database) {
  Lines lines;
  // The cells hold the counts, and the places, of both kinds of each signal.
  auto done =
      each_row(database,
               "SELECT kind.nr, frame.function, module.path, min(" + std::string(kIsFallback) +
                   "), sum(cell.events) FROM cell "
                   "JOIN kind ON kind.id = cell.kind_id LEFT JOIN frame ON frame.id = cell.trigger_frame_id "
                   "LEFT JOIN module ON module.id = frame.module_id WHERE kind.class = 'signal' GROUP BY 1, 2, 3 "
                   "ORDER BY 5 DESC, 2, 3",
               [&](const SqlRow& row) {
                 const bool sent = (row.integer(0) & USC_SIGNAL_KIND_SENT) != 0;
                 SignalLine& line = lines[row.integer(0) & ~std::int64_t{USC_SIGNAL_KIND_SENT}];
                 const auto events = static_cast<std::uint64_t>(row.integer(4));
                 (sent ? line.sent : line.delivered) += events;
                 if (!row.is_null(1))
                   (sent ? line.sent_from : line.interrupted_in)
                       .push_back({text(row, 1), text(row, 2), row.integer(3) != 0, events});
               });
  if (!done) return done.error();
  done = each_row(
      database,
      "SELECT number, sender_pid, sender, count(*), total(result = 'ignored') FROM signal "
      "WHERE result IS NOT NULL GROUP BY number, sender_pid, sender ORDER BY 4 DESC, sender_pid, sender",
      [&](const SqlRow& row) {
        SignalLine& line = lines[row.integer(0)];
        line.senders.push_back({row.maybe_integer(1), text(row, 2), static_cast<std::uint64_t>(row.integer(3))});
        line.ignored += static_cast<std::uint64_t>(row.integer(4));
      });
  if (!done) return done.error();
  if (done = read_sent(database, lines); done) done = read_delivered(database, lines);
  if (!done) return done.error();
  std::vector<SignalLine> out;
  for (auto& [number, line] : lines) {
    line.number = static_cast<int>(number);
    out.push_back(std::move(line));
  }
  return out;
}

Result<std::map<SignalTo, SignalParty>> last_senders(const store::Database& database) {
  std::map<SignalTo, SignalParty> senders;
  // Of all the recording: it tells why a process ended.
  auto done = each_row(database,
                       "SELECT s.receiver_pid, s.number, s.sender_pid, s.sender, max(e.ts_ns) FROM " +
                           database.table("signal") +
                           " s "
                           "JOIN event e ON e.id = s.event_id WHERE s.result IS NOT NULL AND s.result <> 'ignored' "
                           "GROUP BY s.receiver_pid, s.number",
                       [&](const SqlRow& row) {
                         senders[{row.integer(0), row.integer(1)}] = {row.maybe_integer(2), text(row, 3)};
                       });
  if (!done) return done.error();
  return senders;
}

}  // namespace uscope::analyzer
