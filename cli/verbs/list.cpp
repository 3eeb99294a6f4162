// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/list.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "cli/render/list_render.h"
#include "cli/session/record_probes.h"
#include "cli/terminal/pager.h"
#include "cli/verbs/shared_options.h"
#include "support/nearest.h"
#include "tracer/host/host.h"
#include "tracer/targets/target.h"
#include "tracer/targets/target_search.h"

namespace uscope::cli {
namespace {

std::vector<ClassLine> class_lines(const std::vector<tracer::Target>& targets,
                                   const std::vector<tracer::TargetAnswer>& answers, bool of_application) {
  std::vector<ClassLine> lines;
  for (std::size_t i = 0; i < targets.size(); i++) {
    ClassLine& line = lines.emplace_back();
    line.what = targets[i].what;
    const auto& matches = answers[i].matches;
    const bool in_binaries = line.what == tracer::TargetClass::kUsdt || line.what == tracer::TargetClass::kUfunction;
    if (matches.empty() && in_binaries && !of_application) {
      line.note = "of an application: give --app NAME, --pid PID or a file";
      continue;
    }
    const auto can_be = [](const tracer::TargetMatch& match) { return match.why_not.empty(); };
    line.targets = static_cast<std::size_t>(std::count_if(matches.begin(), matches.end(), can_be));
    if (!matches.empty() && *line.targets == 0 && !in_binaries) line.why_not = matches.front().why_not;
    if (matches.empty() && !in_binaries) line.why_not = answers[i].problem.what;
  }
  return lines;
}

// What is wrong if nothing matches.
Error nothing_found(const std::string& pattern, const std::vector<tracer::TargetAnswer>& answers) {
  if (answers.size() == 1) return answers.front().problem;
  for (const tracer::TargetAnswer& answer : answers)
    if (pattern.find('/') != std::string::npos && !answer.problem.what.empty()) return answer.problem;
  const std::string meant = did_you_mean(pattern, tracer::class_names());
  const std::string what = fmt::format("no target has '{}' in its name", pattern);
  if (!meant.empty()) return {what, meant};
  return {what,
          "`uscope list` shows which classes there are; functions and USDT probes are those of --app, --pid or a file"};
}

void define_list(Verb& verb) {
  auto options = std::make_shared<ListOptions>();
  verb.add_option("PATTERN", options->pattern,
                  "targets as of `record -t` (names may be left out at the end), a word in their names, or a file");
  verb.add_option("--app", options->processes.apps,
                  "look at the programs and libraries of this application, which must run")
      ->type_name("NAME");
  take_number(verb.add_option("-p,--pid", options->processes.pids, "look at those of this process"), 1, kMostPid)
      ->type_name("PID");
  verb.add_flag("--refused", options->refused, "show what cannot be traced instead, each by name and with the reason");
  add_format(verb, options->format);
  add_no_pager(verb);
  verb.runs([options] { return run_list(*options); });
}

}  // namespace

void add_list(CommandLine& line) {
  line.add_verb("list", "show what `record -t` can trace here, and why something cannot be traced", define_list);
}

Result<int> run_list(const ListOptions& options) {
  auto targets = tracer::parse_list_pattern(options.pattern);
  if (!targets) return targets.error();
  tracer::TargetSearch search;
  search.host = tracer::this_host();
  search.kernel_functions = tracer::kernel_functions_here();
  search.with_arguments = !options.pattern.empty() && !options.refused;
  auto application = application_of(options.processes);
  if (!application) return application.error();
  search.application = std::move(*application);
  const bool of_application = !search.application.empty();
  if (!of_application && !options.processes.apps.empty())
    return Error{fmt::format("no process is called '{}'", options.processes.apps.front()),
                 "start it, or give the file of its program"};
  const Pager pager;
  const auto answers = tracer::search_targets(*targets, search);
  if (!answers) return answers.error();
  Output out(stdout);
  const bool text = options.format == Format::kText;
  if (options.pattern.empty()) {
    const std::vector<ClassLine> lines = class_lines(*targets, *answers, of_application);
    out.write(text ? classes_text(lines, text_width(stdout)) : classes_json(lines));
  } else {
    std::vector<tracer::TargetMatch> matches;
    for (const tracer::TargetAnswer& answer : *answers)
      matches.insert(matches.end(), answer.matches.begin(), answer.matches.end());
    if (matches.empty()) return nothing_found(options.pattern, *answers);
    out.write(text ? targets_text(matches, options.refused) : targets_json(matches, options.refused));
  }
  if (auto done = out.finish(); !done && !out.has_no_reader()) return done.error();
  return 0;
}

}  // namespace uscope::cli
