// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/debuginfod_choice.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/render/json.h"
#include "cli/render/units.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

constexpr const char* kServersOfEnvironment = "true";  // what CLI11 stores for a flag without a value
constexpr std::int64_t kLongest = 3600LL * 1000 * 1000 * 1000;

}  // namespace

Result<std::optional<symbolizer::Debuginfod>> open_debuginfod(const DebuginfodChoice& choice) {
  if (choice.servers.empty()) return std::optional<symbolizer::Debuginfod>();
  const auto timeout = parse_duration(choice.timeout);
  if (!timeout) return timeout.error();
  constexpr std::int64_t kMillisecond = 1'000'000;
  if (*timeout < kMillisecond || *timeout > kLongest)
    return Error{"--debuginfod-timeout " + choice.timeout + " is not between 1 ms and 1 h", "give 10s, 2m"};
  symbolizer::DebuginfodOptions options;
  constexpr int kFilesOfFullTime = 12;
  options.per_file = std::chrono::milliseconds(*timeout / kMillisecond);
  options.overall = options.per_file * kFilesOfFullTime;
  options.urls = choice.servers;
  if (choice.servers == kServersOfEnvironment) {
    const char* urls = std::getenv("DEBUGINFOD_URLS");
    options.urls = urls != nullptr ? urls : "";
  }
  auto client = symbolizer::Debuginfod::create(options);
  if (!client) return client.error();
  return std::optional(std::move(*client));
}

std::string debuginfod_text(const symbolizer::DebuginfodFigures& figures) {
  std::string text =
      "debuginfod: " + group_digits(figures.found) + " of " + plural(figures.asked, "debug file") + " found";
  if (figures.unknown) text += ", " + group_digits(figures.unknown) + " not known to the servers";
  if (figures.timed_out) text += ", " + group_digits(figures.timed_out) + " without an answer in time";
  if (figures.failed) text += ", " + group_digits(figures.failed) + " failed (" + figures.problem + ")";
  if (figures.not_asked) text += ", " + group_digits(figures.not_asked) + " not asked for after that";
  return text;
}

nlohmann::ordered_json debuginfod_json(const symbolizer::DebuginfodFigures& figures) {
  return {{"asked", figures.asked},
          {"found", figures.found},
          {"unknown", figures.unknown},
          {"timed_out", figures.timed_out},
          {"failed", figures.failed},
          {"not_asked", figures.not_asked},
          {"problem", json_value(figures.problem)}};
}

}  // namespace uscope::cli
