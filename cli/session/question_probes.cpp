// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/question_probes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/session/record_plan.h"
#include "cli/session/record_probes.h"
#include "query/plan/asked_kinds.h"
#include "support/nearest.h"
#include "support/text.h"
#include "trace/names.h"
#include "tracer/host/host.h"
#include "tracer/recorder/recorder.h"
#include "tracer/targets/resolve.h"
#include "tracer/targets/target.h"
#include "tracer/targets/target_search.h"

namespace uscope::cli {
namespace {

using tracer::Target;
using tracer::TargetClass;
using Names = std::vector<std::string>;

std::uint32_t source_of(TargetClass what) {
  const std::string_view name = tracer::form_of(what).name;
  std::uint32_t source = 0;
  while (source < USC_SOURCE_COUNT && trace::source_name(source) != name) source++;
  return source;
}

bool is_in_files(TargetClass what) {
  return what == TargetClass::kUfunction || what == TargetClass::kUsdt;
}

// What a class's kinds are called, with an example.
const char* names_of(TargetClass what) {
  switch (what) {
    case TargetClass::kTracepoint:
      return "SYSTEM:NAME, such as sched:sched_switch";
    case TargetClass::kUsdt:
      return "FILE:PROVIDER:NAME, such as libc.so.6:libc:setjmp";
    case TargetClass::kUfunction:
      return "FILE:FUNCTION, such as libc.so.6:malloc";
    default:
      return "FUNCTION, such as vfs_read";
  }
}

// The widest target that all kinds whose name begins so are of; nothing: no kind of the class has such a name. A name
// that ends with `*` is a beginning.
std::optional<Target> target_of(TargetClass what, const std::string& beginning, bool with_returns) {
  Target target;
  target.with_return = with_returns && (what == TargetClass::kUfunction || what == TargetClass::kKfunction);
  target.what = what;
  target.group = target.name = "*";
  const std::string suffix(target.with_return ? tracer::kReturnSuffix : "");
  if (what == TargetClass::kKfunction) {
    target.name = beginning;
    target.text = "kfunction:" + beginning + suffix;
    return target;
  }
  const std::size_t colon = beginning.find(':');
  if (colon == std::string::npos && !beginning.ends_with('*')) return std::nullopt;
  const std::string first = beginning.substr(0, colon);
  (is_in_files(what) ? target.binary : target.group) = first;
  target.text = fmt::format("{}:{}:*{}", tracer::form_of(what).name, first, what == TargetClass::kUsdt ? ":*" : suffix);
  return target;
}

class Choice {
 public:
  Choice(const RecordVerbOptions& options, const query::Plan& plan, const tracer::RecordOptions& out)
      : options_(options), asked_(plan.text), attached_(out.probes.probes.size()), with_returns_(plan.needs.returns) {
    search_.host = tracer::this_host();
    search_.kernel_functions = kernel_functions_by(out);
    search_.with_arguments = plan.needs.arguments || plan.needs.results;
  }

  Result<tracer::ProbePlan> make(const std::vector<TargetClass>& classes) {
    if (!asked_.are_known())
      return Error{fmt::format("it cannot be told which kinds of {} the question asks for",
                               tracer::form_of(classes.front()).name),
                   "ask by one SELECT over v_event, whose WHERE names class and kind; or name targets: -t"};
    auto application = application_of(options_);
    if (!application) return application.error();
    search_.application = std::move(*application);
    for (const TargetClass what : classes)
      if (auto added = add(what); !added) return added.error();
    tracer::ResolveLimits limits;
    limits.most = std::numeric_limits<std::size_t>::max();
    auto resolved = tracer::plan_of(targets_, std::move(answers_), limits);
    if (!resolved) return resolved.error();
    const std::size_t probes = resolved->plan.probes.size() + attached_;
    if (probes > tracer::kMostProbes && !options_.all_matches)
      return Error{fmt::format("the question asks for {}, and without --all-matches uscope attaches at most {}",
                               plural(probes, "probe"), group_digits(tracer::kMostProbes)),
                   "have WHERE choose fewer kinds, or give --all-matches"};
    for (const std::string& line : resolved->left_out)
      std::fprintf(stderr, "uscope: %s\n", escape_terminal(line).c_str());
    return std::move(resolved->plan);
  }

 private:
  // The kinds of a class that WHERE admits.
  Result<void> add(TargetClass what) {
    const auto beginnings = asked_.beginnings(source_of(what));
    std::vector<Target> targets;
    for (const std::string& beginning : beginnings.value_or(Names{"*"}))
      if (auto target = target_of(what, beginning, with_returns_)) targets.push_back(std::move(*target));
    if (is_in_files(what) && search_.application.empty())
      for (const Target& target : targets)
        if (target.binary == "*") return whose(what);
    auto answers = tracer::search_targets(targets, search_);
    if (!answers) return answers.error();
    Names names;
    for (const tracer::TargetAnswer& answer : *answers)
      for (const tracer::TargetMatch& match : answer.matches) names.push_back(trace_text(match.probe.name));
    const auto admitted = asked_.admits(source_of(what), names);
    if (!admitted) return admitted.error();
    const bool any = std::find(admitted->begin(), admitted->end(), true) != admitted->end();
    if (!any) return nothing_fits(what, beginnings.value_or(Names()), names, *answers);
    std::size_t at = 0;
    for (std::size_t i = 0; i < targets.size(); i++) {
      tracer::TargetAnswer kept;
      for (tracer::TargetMatch& match : (*answers)[i].matches)
        if ((*admitted)[at++]) kept.matches.push_back(std::move(match));
      if (kept.matches.empty()) continue;
      targets_.push_back(std::move(targets[i]));
      answers_.push_back(std::move(kept));
    }
    return {};
  }

  static Error whose(TargetClass what) {
    const char* name = tracer::form_of(what).name;
    return {fmt::format("class = '{}' stands for all programs and libraries here: no application is known whose files "
                        "they are",
                        name),
            fmt::format("name the file: AND kind GLOB '{}'",
                        what == TargetClass::kUsdt ? "libc.so.6:*:setjmp" : "libc.so.6:malloc*")};
  }

  [[nodiscard]] Error nothing_fits(TargetClass what, const Names& asked, const Names& names,
                                   const std::vector<tracer::TargetAnswer>& answers) const {
    const char* name = tracer::form_of(what).name;
    if (names.empty() && !answers.empty()) return answers.front().problem;
    const auto of_files = [&](const std::string& remedy) {
      return is_in_files(what) ? tracer::with_files_searched(remedy, search_.application,
                                                             tracer::form_of(what).name + std::string(":"))
                               : remedy;
    };
    const std::string what_is_wrong = fmt::format("no {} has a name for which WHERE may hold", name);
    for (const std::string& one : asked) {
      const std::string meant = did_you_mean(one.substr(0, one.find('*')), names);
      if (!meant.empty()) return {what_is_wrong, of_files(meant)};
    }
    return {what_is_wrong,
            of_files(fmt::format("kinds are called {}; `uscope list {}` shows what there is", names_of(what), name))};
  }

  const RecordVerbOptions& options_;
  query::AskedKinds asked_;
  std::size_t attached_;
  bool with_returns_;  // functions last to their return
  tracer::TargetSearch search_;
  std::vector<Target> targets_;
  std::vector<tracer::TargetAnswer> answers_;
};

}  // namespace

Result<std::uint32_t> sources_of_targets(const std::vector<std::string>& targets) {
  std::uint32_t sources = 0;
  for (const std::string& text : targets) {
    const auto target = tracer::parse_target(text);
    if (!target) return target.error();
    sources |= 1U << source_of(target->what);
  }
  return sources;
}

Result<void> set_question_probes(const RecordVerbOptions& options, const query::Plan& plan,
                                 tracer::RecordOptions& out) {
  const auto named = sources_of_targets(options.targets);
  if (!named) return named.error();
  std::vector<TargetClass> classes;
  for (const tracer::TargetForm& form : tracer::kTargetForms) {
    if ((plan.sources & ~*named & 1U << source_of(form.what)) == 0) continue;
    if (form.what == TargetClass::kSample)
      out.probes.sample_hz = tracer::kUsualSampleHz;
    else if (form.what == TargetClass::kOffcpu)
      out.probes.offcpu = true;
    else
      classes.push_back(form.what);
  }
  if (classes.empty()) return {};
  const tracer::KernelFunctionsBy by = kernel_functions_by(out);
  auto chosen = Choice(options, plan, out).make(classes);
  if (!chosen) return chosen.error();
  // Kinds are numbered by source, and no source has probes of both.
  for (tracer::Probe& probe : chosen->probes) out.probes.probes.push_back(std::move(probe));
  choose_backend(by, out);
  return {};
}

}  // namespace uscope::cli
