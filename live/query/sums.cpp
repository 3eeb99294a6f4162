// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/sums.h"

#include <algorithm>
#include <utility>

#include "uscope/query_run.h"

namespace uscope::query {
namespace {

constexpr std::size_t kFewestPlaces = 64;  // a power of two, as all numbers of places are

void merge(WideSum& into, const WideSum& more) {
  if (more.count == 0) return;
  into.least = into.count == 0 ? more.least : std::min(into.least, more.least);
  into.greatest = into.count == 0 ? more.greatest : std::max(into.greatest, more.greatest);
  into.count += more.count;
  into.sum += more.sum;
}

}  // namespace

PartialRows::PartialRows(const usc_query& program)
    : keys_(std::min<std::size_t>(program.keys, USC_QUERY_KEYS)),
      measures_(std::min<std::size_t>(program.measures, USC_QUERY_MEASURES)) {
  for (const usc_query_insn& insn :
       std::span(program.insn).first(std::min<std::size_t>(program.length, USC_QUERY_MOST)))
    if (insn.op == USC_QUERY_KEY_STEP) in_steps_ |= 1U << insn.value;
}

// How many rows there are, the rows, and each list of steps behind its length.
std::vector<std::uint64_t> PartialRows::packed() const {
  std::vector<std::uint64_t> words;
  std::size_t count = 1 + words_.size();
  for (const StepCounts& steps : steps_) count += 1 + 2 * steps.size();
  words.reserve(count);
  words.push_back(size());
  words.insert(words.end(), words_.begin(), words_.end());
  for (const StepCounts& steps : steps_) {
    words.push_back(steps.size());
    for (const StepCount& step : steps) words.insert(words.end(), {static_cast<std::uint64_t>(step.end), step.events});
  }
  return words;
}

PartialRows::PartialRows(const usc_query& program, std::span<const std::uint64_t> packed) : PartialRows(program) {
  const auto take = [&packed](std::size_t count) {
    const auto taken = packed.first(std::min(count, packed.size()));
    packed = packed.subspan(taken.size());
    return taken;
  };
  const auto take_count = [&take](std::size_t most) {
    const auto taken = take(1);
    return taken.empty() ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(taken.front(), most));
  };
  const std::size_t rows = take_count(packed.size() / row_words());
  const auto words = take(rows * row_words());
  words_.assign(words.begin(), words.end());
  steps_.resize(steps_at(rows, 0));
  for (StepCounts& steps : steps_) {
    const std::size_t count = take_count(packed.size() / 2);
    steps.reserve(count);
    for (std::size_t i = 0; i < count; i++) {
      const auto step = take(2);
      steps.push_back({static_cast<std::int64_t>(step[0]), step[1]});
    }
  }
}

usc_query_key PartialRows::key_of_row(usc_query_key key) const {
  for (std::size_t word = 0; word < keys_; word++) {
    if (!is_in_steps(word)) continue;
    key.word[word] = 0;
    key.nulls &= ~(1U << word);
  }
  return key;
}

usc_query_key PartialRows::key(std::size_t row) const {
  usc_query_key key{};
  const std::uint64_t* words = &words_[row * row_words()];
  key.nulls = static_cast<__u32>(words[1]);
  std::copy_n(words + 2, keys_, std::begin(key.word));
  return key;
}

std::optional<std::int64_t> PartialRows::word(std::size_t row, std::size_t number) const {
  const std::uint64_t* words = &words_[row * row_words()];
  if ((words[1] >> number & 1) != 0) return std::nullopt;
  return static_cast<std::int64_t>(words[2 + number]);
}

bool PartialRows::has_key(std::size_t row, const usc_query_key& key) const {
  const std::uint64_t* words = &words_[row * row_words()];
  return words[1] == key.nulls && std::equal(words + 2, words + 2 + keys_, std::begin(key.word),
                                             [](std::uint64_t a, __s64 b) { return a == static_cast<__u64>(b); });
}

WideSum PartialRows::sum(std::size_t row, std::size_t measure) const {
  const std::uint64_t* words = &words_[sum_at(row, measure)];
  const auto sum = static_cast<unsigned __int128>(words[4]) << 64 | words[3];
  return {words[0], static_cast<std::int64_t>(words[1]), static_cast<std::int64_t>(words[2]),
          static_cast<__int128>(sum)};
}

void PartialRows::put_sum(std::size_t row, std::size_t measure, const WideSum& sum) {
  std::uint64_t* words = &words_[sum_at(row, measure)];
  words[0] = sum.count;
  words[1] = static_cast<std::uint64_t>(sum.least);
  words[2] = static_cast<std::uint64_t>(sum.greatest);
  words[3] = static_cast<std::uint64_t>(sum.sum);
  words[4] = static_cast<std::uint64_t>(static_cast<unsigned __int128>(sum.sum) >> 64);
}

PartialRow PartialRows::operator[](std::size_t row) const {
  PartialRow whole;
  whole.key = key(row);
  whole.events = events(row);
  for (std::size_t i = 0; i < measures_; i++) whole.sums[i] = sum(row, i);
  return whole;
}

void PartialRows::push_back(const PartialRow& row) {
  const std::size_t number = size();
  words_.resize(words_.size() + row_words());
  std::uint64_t* words = &words_[number * row_words()];
  words[0] = row.events;
  words[1] = row.key.nulls;
  std::copy_n(std::begin(row.key.word), keys_, words + 2);
  for (std::size_t i = 0; i < measures_; i++) put_sum(number, i, row.sums[i]);
  steps_.resize(steps_at(number + 1, 0));
}

void PartialRows::add_sum(std::size_t row, std::size_t measure, const WideSum& more) {
  WideSum all = sum(row, measure);
  merge(all, more);
  put_sum(row, measure, all);
}

// Twice as many places as rows, at least.
void Sums::make_places() {
  std::size_t count = kFewestPlaces;
  while (count < 4 * rows_.size()) count *= 2;
  places_.assign(count, 0);
  for (std::size_t number = 0; number < rows_.size(); number++) {
    const usc_query_key key = rows_.key(number);
    std::size_t at = usc_query_hash(&key) & (count - 1);
    while (places_[at] != 0) at = (at + 1) & (count - 1);
    places_[at] = static_cast<std::uint32_t>(number + 1);
  }
}

// Of the row of an event, or of events with one key.
std::size_t Sums::row(const usc_query_key& whole) {
  const usc_query_key key = rows_.key_of_row(whole);
  if (2 * (rows_.size() + 1) > places_.size()) make_places();
  std::size_t at = usc_query_hash(&key) & (places_.size() - 1);
  for (; places_[at] != 0; at = (at + 1) & (places_.size() - 1))
    if (rows_.has_key(places_[at] - 1, key)) return places_[at] - 1;
  PartialRow row;
  row.key = key;
  rows_.push_back(row);
  places_[at] = static_cast<std::uint32_t>(rows_.size());
  return rows_.size() - 1;
}

usc_query_end Sums::add(const trace::Event& event) {
  usc_query_input input;
  usc_query_fill(&input, &event, event.unread);
  const usc_query_end end = usc_query_run(&program_, &input, &state_);
  if (end != USC_QUERY_GIVEN) return end;
  const std::size_t into = row(state_.key);
  rows_.add_events(into, 1);
  add_steps(into, state_.key, 1, nullptr);
  events_++;
  for (std::uint32_t i = 0; i < program_.measures; i++) {
    if ((state_.measure_nulls >> i & 1) != 0) continue;
    const std::int64_t value = state_.measure[i];
    rows_.add_sum(into, i, {1, value, value, value});
  }
  return end;
}

void Sums::add_steps(std::size_t into, const usc_query_key& key, std::uint64_t events, const usc_query_steps* steps) {
  for (std::size_t word = 0; word < program_.keys; word++) {
    if (!rows_.is_in_steps(word) || (key.nulls >> word & 1) != 0) continue;
    if (steps == nullptr || word + 1 != group_word_) {
      rows_.add_step(into, word, {key.word[word], events});
      continue;
    }
    const __s64 group = key.word[word];
    for (std::uint32_t i = 0; i < USC_QUERY_STEPS; i++) {
      const std::uint32_t step = group < 0 ? USC_QUERY_STEPS - 1 - i : i;  // in the order of their ends
      if (steps->events[step] != 0)
        rows_.add_step(into, word, {usc_query_end_of_step(group, step), steps->events[step]});
    }
  }
}

void Sums::add(const usc_query_row& more, const usc_query_steps* steps) {
  if (more.events == 0) return;
  const std::size_t into = row(more.key);
  rows_.add_events(into, more.events);
  add_steps(into, more.key, more.events, steps);
  events_ += more.events;
  for (std::uint32_t i = 0; i < program_.measures; i++) {
    const usc_query_sum& sum = more.sum[i];
    rows_.add_sum(into, i, {sum.count, sum.least, sum.greatest, sum.sum});
  }
}

void Sums::replace(std::size_t word, const std::function<std::int64_t(std::int64_t)>& with) {
  const PartialRows before = std::exchange(rows_, PartialRows(program_));
  places_.clear();
  for (std::size_t number = 0; number < before.size(); number++) {
    usc_query_key key = before.key(number);
    if ((key.nulls >> word & 1) == 0) key.word[word] = with(key.word[word]);
    const std::size_t into = row(key);
    rows_.add_events(into, before.events(number));
    for (std::size_t i = 0; i < program_.measures; i++) rows_.add_sum(into, i, before.sum(number, i));
    for (std::size_t other = 0; other < program_.keys; other++)
      if (rows_.is_in_steps(other))
        for (const StepCount& step : before.steps(number, other)) rows_.add_step(into, other, step);
  }
}

}  // namespace uscope::query
