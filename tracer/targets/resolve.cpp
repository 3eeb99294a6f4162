// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/resolve.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "support/text.h"

namespace uscope::tracer {
namespace {

// Each probe once, by source and name: with its return, if one target says so. Then kinds are numbered.
void settle(std::vector<Probe>& probes) {
  const auto key = [](const Probe& probe) { return std::tie(probe.source, probe.name, probe.path, probe.places); };
  std::stable_sort(probes.begin(), probes.end(),
                   [](const Probe& a, const Probe& b) { return a.with_return && !b.with_return; });
  std::stable_sort(probes.begin(), probes.end(), [&](const Probe& a, const Probe& b) { return key(a) < key(b); });
  probes.erase(
      std::unique(probes.begin(), probes.end(), [&](const Probe& a, const Probe& b) { return key(a) == key(b); }),
      probes.end());
  std::stable_sort(probes.begin(), probes.end(), [](const Probe& a, const Probe& b) {
    return std::make_pair(a.source, description_of(a)) < std::make_pair(b.source, description_of(b));
  });
  for (std::size_t i = 0; i < probes.size(); i++) {
    const bool same_source = i > 0 && probes[i - 1].source == probes[i].source;
    const std::uint32_t before = same_source ? probes[i - 1].kind : 0;
    const bool same_kind = same_source && description_of(probes[i - 1]) == description_of(probes[i]);
    probes[i].kind = same_kind ? before : before + 1;
  }
}

// A function of the kernel may have several names, and its hits can be told by one of them only.
void drop_second_names(std::vector<Probe>& probes, std::vector<std::string>& left_out) {
  std::map<std::pair<std::vector<std::uint64_t>, bool>, std::string> names;
  for (const Probe& probe : probes) {
    if (probe.source != USC_SOURCE_KFUNCTION) continue;
    const auto [known, is_new] = names.try_emplace({probe.places, probe.with_return}, probe.name);
    if (!is_new) known->second = std::min(known->second, probe.name);
  }
  std::erase_if(probes, [&](const Probe& probe) {
    if (probe.source != USC_SOURCE_KFUNCTION) return false;
    const std::string& name = names.at({probe.places, probe.with_return});
    if (name == probe.name) return false;
    left_out.push_back(fmt::format("kfunction:{} is another name of {}, and is told as that", probe.name, name));
    return true;
  });
}

Error cannot_be_traced(const Target& target, const std::vector<TargetMatch>& matches) {
  const TargetMatch& first = matches.front();
  const bool by_force = matches.size() == 1 && first.can_be_forced && names_one(target);
  if (matches.size() == 1)
    return {fmt::format("{} cannot be traced: {}", target.text, first.why_not),
            by_force ? "leave it out; or give --force-probe, at the risk of every program that uses the file"
                     : "leave it out; `uscope list` shows what there is beside it"};
  return {fmt::format("{}: none of {} matches can be traced: {}{}", target.text, group_digits(matches.size()),
                      first.why_not, first.can_be_forced ? "; --force-probe is for a target that means one place" : ""),
          fmt::format("`uscope list --refused {}` shows why", shell_quoted(target.text))};
}

std::string sentence_of_refused(const Target& target, const std::vector<TargetMatch>& matches) {
  constexpr std::size_t kMostReasons = 3;
  const auto reasons = reasons_of(matches);
  std::size_t refused = 0;
  std::string text;
  for (std::size_t i = 0; i < reasons.size(); i++) {
    refused += reasons[i].second;
    if (i < kMostReasons)
      text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", group_digits(reasons[i].second), reasons[i].first);
  }
  if (reasons.size() > kMostReasons) text += "; and others";
  return fmt::format("{} of {} matches of {} cannot be traced ({}): `uscope list --refused` names them",
                     group_digits(refused), group_digits(matches.size()), target.text, text);
}

std::string sentence_of_not_kept(const std::vector<Probe>& probes) {
  const auto lacks = [](const Probe& probe) { return !probe.not_kept.empty(); };
  const auto first = std::find_if(probes.begin(), probes.end(), lacks);
  if (first == probes.end()) return "";
  const auto others = static_cast<std::size_t>(std::count_if(first + 1, probes.end(), lacks));
  std::string sentence = fmt::format("of {}, {}", first->name, first->not_kept);
  if (others == 0) return sentence;
  return fmt::format("{}; likewise of {} (`uscope list` names them)", sentence, plural(others, "other"));
}

}  // namespace

std::string description_of(const Probe& probe) {
  std::string text = probe.name;
  for (const ProbeArgument& argument : probe.arguments) {
    text += '\0' + argument.name;
    text += '\0' + argument.type;
  }
  return text;
}

std::vector<std::pair<std::string, std::size_t>> reasons_of(std::span<const TargetMatch> matches) {
  std::map<std::string, std::size_t> counts;
  for (const TargetMatch& match : matches)
    if (!match.why_not.empty()) counts[match.why_not]++;
  std::vector<std::pair<std::string, std::size_t>> reasons(counts.begin(), counts.end());
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return reasons;
}

Result<ResolvedTargets> plan_of(std::span<const Target> targets, std::vector<TargetAnswer> answers,
                                const ResolveLimits& limits) {
  ResolvedTargets out;
  std::string together;
  for (std::size_t i = 0; i < targets.size(); i++) {
    const Target& target = targets[i];
    TargetAnswer& answer = answers[i];
    if (target.what == TargetClass::kSample) {
      if (out.plan.sample_hz != 0 && out.plan.sample_hz != target.hz)
        return Error{fmt::format("{}: samples are asked for {} times a second, too", target.text, out.plan.sample_hz),
                     "give -t sample:HZ once"};
      out.plan.sample_hz = target.hz;
      continue;
    }
    if (target.what == TargetClass::kOffcpu) {
      out.plan.offcpu = true;
      continue;
    }
    if (answer.matches.empty()) return answer.problem;
    const bool all_refused = std::none_of(answer.matches.begin(), answer.matches.end(),
                                          [](const TargetMatch& match) { return match.why_not.empty(); });
    const bool forced = limits.force && answer.matches.size() == 1 && all_refused && names_one(target) &&
                        answer.matches.front().can_be_forced;
    if (all_refused && !forced) return cannot_be_traced(target, answer.matches);
    if (forced)
      out.left_out.push_back(fmt::format("{} is probed at your risk: {}", target.text, answer.matches.front().why_not));
    else if (!reasons_of(answer.matches).empty())
      out.left_out.push_back(sentence_of_refused(target, answer.matches));
    for (TargetMatch& match : answer.matches) {
      if (!match.why_not.empty() && !forced) continue;
      match.probe.forced = forced;
      out.plan.probes.push_back(std::move(match.probe));
    }
    together += (together.empty() ? "" : ", ") + target.text;
  }
  drop_second_names(out.plan.probes, out.left_out);
  settle(out.plan.probes);
  out.not_kept = sentence_of_not_kept(out.plan.probes);
  if (out.plan.probes.size() > limits.most)
    return Error{fmt::format("{}: that is {}, and without --all-matches uscope attaches at most {}", together,
                             plural(out.plan.probes.size(), "probe"), group_digits(limits.most)),
                 "name fewer (`uscope list` shows what a target means), or give --all-matches"};
  return out;
}

Result<ResolvedTargets> resolve_targets(std::span<const Target> targets, const TargetSearch& search,
                                        const ResolveLimits& limits) {
  auto answers = search_targets(targets, search);
  if (!answers) return answers.error();
  return plan_of(targets, std::move(*answers), limits);
}

}  // namespace uscope::tracer
