// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/line_choice.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "support/text.h"
#include "syscalls/call_traits.h"

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

// Long times in calls that wait say little: as in reports, such calls are apart from the others.
bool is_wait(const CallLine& line) {
  return syscalls::waits(line.call);
}
bool is_wait(const ThreadLine&) {
  return false;
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
    if (choice.filter.empty() || matches(lines[i], choice.filter)) places.push_back(i);
  const auto rank = [&](const Line& line) {
    return choice.order == Order::kTime ? time_of(line) : choice.order == Order::kErrors ? line.errors : line.calls;
  };
  std::sort(places.begin(), places.end(), [&](std::size_t left, std::size_t right) {
    const Line& a = lines[left];
    const Line& b = lines[right];
    if (const bool x = is_wait(a), y = is_wait(b); choice.order == Order::kTime && x != y) return y;
    if (const auto x = rank(a), y = rank(b); x != y) return x > y;
    if (a.calls != b.calls) return a.calls > b.calls;
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
