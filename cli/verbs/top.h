// `uscope top`: what running applications call, and from where, refreshed while one looks.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/output.h"
#include "cli/verbs/invocation.h"
#include "cli/verbs/record.h"
#include "live/call_counts.h"

namespace uscope::cli {

struct TopVerbOptions {
  RecordVerbOptions record;  // target, calls, backend, modules, duration
  std::string interval = "1s";
  bool once = false;
  unsigned lines = 0;  // 0: as many as the terminal has, or 20
  Format format = Format::kText;
};

// One picture.
struct TopPicture {
  std::string target;
  double at_s = 0;          // since tracing began
  double seconds = 0;       // that the lines are of
  std::uint64_t calls = 0;  // in them
  std::uint64_t lost = 0;   // since tracing began
  std::uint64_t processes = 0;
  std::vector<live::CallLine> lines;
};

void add_top(CLI::App& app, Invocation& invocation);
Result<int> run_top(const TopVerbOptions& options);

// `most` lines; `quits`: say how to leave.
[[nodiscard]] std::string top_text(const TopPicture& picture, std::size_t most, std::size_t width, bool quits);
// docs/json/top.schema.json, in one line.
[[nodiscard]] std::string top_json(const TopPicture& picture, std::size_t most);

}  // namespace uscope::cli
