// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/units.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <array>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/terminal/text_width.h"
#include "support/text.h"
#include "syscalls/errno_names.h"

namespace uscope::cli {

Result<std::int64_t> parse_duration(const std::string& text) {
  constexpr std::array<std::pair<const char*, double>, 8> kUnits{
      {{"", 1e9}, {"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  const std::string unit(end, text.data() + text.size());
  if (problem == std::errc() && number >= 0) {
    for (const auto& [name, factor] : kUnits)
      if (unit == name && number * factor < 9e18) return static_cast<std::int64_t>(std::llround(number * factor));
  }
  constexpr std::size_t kShown = 40;
  return Error{"'" + shorten(text, kShown, Shrink::kMiddle) + "' is not a length of time",
               "write a number and one of ns, us, ms, s, m, h: 1.5ms"};
}

std::string signal_name(std::int64_t number) {
  const bool is_small = number > 0 && number < NSIG;
  const std::string name = is_small ? syscalls::signal_name(static_cast<int>(number)) : "";
  return name.empty() ? "signal " + std::to_string(number) : name;
}

std::string mode_text(std::uint32_t mode) {
  constexpr std::pair<std::uint32_t, const char*> kTypes[] = {
      {S_IFREG, "S_IFREG"},   {S_IFCHR, "S_IFCHR"}, {S_IFBLK, "S_IFBLK"}, {S_IFIFO, "S_IFIFO"},
      {S_IFSOCK, "S_IFSOCK"}, {S_IFDIR, "S_IFDIR"}, {S_IFLNK, "S_IFLNK"}};
  for (const auto& [type, name] : kTypes)
    if ((mode & S_IFMT) == type) return fmt::format("{}|{:#o}", name, mode & ~S_IFMT);
  return fmt::format("{:#o}", mode);
}

std::string describe_exit(std::optional<std::int64_t> code, std::optional<std::int64_t> signal) {
  if (signal && *signal != 0) return signal_name(*signal);
  if (code) return "exit " + std::to_string(*code);
  return "running";
}

Ink ending_ink(std::string_view cell) {
  return cell.starts_with("SIG") || (cell.starts_with("exit ") && cell != "exit 0") ? Ink::kBad : Ink::kPlain;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0 || part == whole) return "100 %";
  if (part == 0) return "0 %";
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (share > 99.99) return "> 99.99 %";
  if (share < 0.01) return "< 0.01 %";
  return fmt::format("{:.2f} %", std::min(share, 99.99));
}

std::string command_line(const std::string& words) {
  const auto list = nlohmann::json::parse(words, nullptr, false);
  if (!list.is_array()) return words;
  std::string line;
  // A server that has put a title over its arguments leaves many empty ones.
  constexpr std::size_t kShownEmpty = 2;
  std::size_t words_left = list.size();
  while (words_left > 1 && list[words_left - 1].is_string() &&
         list[words_left - 1].get_ref<const std::string&>().empty())
    words_left--;
  const std::size_t empty = list.size() - words_left;
  if (empty <= kShownEmpty) words_left = list.size();
  for (std::size_t i = 0; i < words_left; i++) {
    const auto& word = list[i];
    const bool is_gap = word.is_null();  // the list was cut
    if (!word.is_string() && !is_gap) return words;
    line += (line.empty() ? "" : " ") + (is_gap ? "…" : shell_quoted(word.get_ref<const std::string&>()));
  }
  if (empty > kShownEmpty) line += fmt::format(" … ({} empty arguments)", empty);
  return line;
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr double kStep = 1024;
  constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < static_cast<std::uint64_t>(kStep)) return plural(bytes, "byte");
  double value = static_cast<double>(bytes) / kStep;
  std::size_t unit = 0;
  for (; value >= kStep && unit + 1 < kUnits.size(); unit++) value /= kStep;
  return fmt::format("{:.1f} {}", value, kUnits.at(unit));
}

std::string seconds(std::int64_t nanoseconds) {
  return fmt::format("{:.6f}", static_cast<double>(nanoseconds) / 1e9);
}

std::string lost_beside_text(std::uint64_t count) {
  return fmt::format("  also missing: {} {}; `uscope report` lists the causes", group_digits(count),
                     count == 1 ? "stack, string or name" : "stacks, strings or names");
}

}  // namespace uscope::cli
