// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/line_choice.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "support/text.h"

namespace uscope::live {
namespace {

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool holds(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

bool matches(const CallLine& line, std::string_view filter) {
  return holds(line.call, filter) || holds(line.function, filter) || holds(base_name(line.module), filter);
}

bool matches(const ThreadLine& line, std::string_view filter) {
  if (holds(line.call, filter)) return true;
  if (line.others) return false;
  return holds(line.name, filter) || holds(std::to_string(line.pid), filter) || holds(std::to_string(line.tid), filter);
}

std::uint64_t time_of(const CallLine& line) {
  return line.times.total();
}
std::uint64_t time_of(const ThreadLine& line) {
  return line.time_ns;
}

// Numbers and times of calls that wait say little of the work that is done: as in reports, they are apart.
bool is_wait(const CallLine& line) {
  return line.waits;
}
bool is_wait(const ThreadLine&) {
  return false;
}

bool is_wanted(const CallLine& line, Waits waits) {
  return waits == Waits::kApart || line.waits == (waits == Waits::kOnly);
}
bool is_wanted(const ThreadLine&, Waits) {
  return true;
}

auto texts_of(const CallLine& line) {
  return std::tie(line.call, line.abi, line.function, line.module);
}
auto texts_of(const ThreadLine& line) {
  return std::tie(line.pid, line.tid);
}

template <typename Line>
std::vector<std::size_t> choose(const std::vector<Line>& lines, const LineChoice& choice) {
  std::vector<std::size_t> places;
  places.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); i++)
    if (is_wanted(lines[i], choice.waits) && (choice.filter.empty() || matches(lines[i], choice.filter)))
      places.push_back(i);
  const auto rank = [&](const Line& line) {
    return choice.order == Order::kTime ? time_of(line) : choice.order == Order::kErrors ? line.errors : line.calls;
  };
  std::sort(places.begin(), places.end(), [&](std::size_t left, std::size_t right) {
    const Line& a = lines[left];
    const Line& b = lines[right];
    if (const bool x = is_wait(a), y = is_wait(b); x != y) return y;
    if (const auto x = rank(a), y = rank(b); x != y) return choice.reverse ? x < y : x > y;
    if (a.calls != b.calls) return choice.reverse ? a.calls < b.calls : a.calls > b.calls;
    return texts_of(a) < texts_of(b);
  });
  return places;
}

}  // namespace

std::vector<std::size_t> chosen(const std::vector<CallLine>& lines, const LineChoice& choice) {
  return choose(lines, choice);
}

std::vector<std::size_t> chosen(const std::vector<ThreadLine>& lines, const LineChoice& choice) {
  return choose(lines, choice);
}

}  // namespace uscope::live
