// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/partial_events.h"

#include <algorithm>
#include <iterator>

#include "live/query/key_words.h"
#include "trace/hit.h"

namespace uscope::query {
namespace {

bool is_null(const usc_query_key& key, std::size_t word) {
  return (key.nulls >> word & 1) != 0;
}

bool is_computed(const KeyWord& word) {
  return word.what == Key::kExpression;
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
  KeyMap<std::uint32_t> known;
  for (std::size_t row = 0; row < rows.size(); row++) {
    const usc_query_key of_event = key_without(rows.key(row), keys, is_computed);
    numbers.push_back(known.try_emplace(of_event, static_cast<std::uint32_t>(known.size())).first->second);
  }
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
      case Key::kGuise:
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

Result<void> append_event(live::WindowTrace& to, const trace::Event& event) {
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
    const bool lasts = event.how == USC_HOW_OPEN || event.how == USC_HOW_RETURNED || event.how == USC_HOW_LEFT;
    hit.how = lasts ? event.how : std::uint8_t{USC_HOW_HIT};
    hit.source = event.source;
    hit.flags = event.flags & (USC_EVENT_NO_RESULT | USC_EVENT_ATTACHED);
    hit.unread = event.unread;
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

}  // namespace uscope::query
