// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace uscope::analyzer {
namespace {

using trace::ProcessSetting;
using What = ChangedSetting::What;
using Texts = std::set<std::string>;
using ValueOf = std::function<std::optional<std::string>(const ProcessSetting&)>;

std::string limit_text(std::uint64_t limit) {
  return limit == ProcessSetting::kUnlimited ? "unlimited" : std::to_string(limit);
}

// Nothing: some process does not have it.
std::optional<Texts> values_of(const RunFacts& run, const ValueOf& setting_value) {
  Texts values;
  for (const ProcessSetting& setting : run.settings) {
    const auto value = setting_value(setting);
    if (!value) return std::nullopt;
    values.insert(*value);
  }
  return values;
}

// "a", or, of several processes, "a, b".
std::string joined(const Texts& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

class SettingComparison {
 public:
  SettingComparison(const std::vector<RunFacts>& normal, const std::vector<RunFacts>& abnormal)
      : normal_(normal), abnormal_(abnormal) {}

  std::vector<ChangedSetting> run() {
    compare(What::kUser, "", [](const ProcessSetting& one) { return number(one.uid); });
    compare(What::kGroup, "", [](const ProcessSetting& one) { return number(one.gid); });
    compare_folders();
    compare_values();
    compare_names();
    for (const std::string& name : names_of([](const ProcessSetting& one) { return keys_of(one.limits); }))
      compare(What::kLimit, name, [&name](const ProcessSetting& one) -> std::optional<std::string> {
        const auto limit = one.limits.find(name);
        if (limit == one.limits.end()) return std::nullopt;
        const auto& [soft, hard] = limit->second;
        return soft == hard ? limit_text(soft) : limit_text(soft) + " of " + limit_text(hard);
      });
    return std::move(changes_);
  }

 private:
  static std::optional<std::string> number(const std::optional<std::uint32_t>& value) {
    return value ? std::optional(std::to_string(*value)) : std::nullopt;
  }

  template <typename Map>
  static std::vector<std::string> keys_of(const Map& map) {
    std::vector<std::string> keys;
    keys.reserve(map.size());
    for (const auto& [key, value] : map) keys.push_back(key);
    return keys;
  }

  // All that any process of any run has.
  template <typename Names>
  [[nodiscard]] std::set<std::string> names_of(const Names& names) const {
    std::set<std::string> all;
    for (const auto* side : {&normal_, &abnormal_})
      for (const RunFacts& run : *side)
        for (const ProcessSetting& setting : run.settings)
          for (std::string& name : names(setting)) all.insert(std::move(name));
    return all;
  }

  // Nothing: a run of the side does not tell.
  static std::optional<Texts> of_side(const std::vector<RunFacts>& side, const ValueOf& setting_value) {
    Texts all;
    for (const RunFacts& run : side) {
      const auto values = values_of(run, setting_value);
      if (!values) return std::nullopt;
      all.insert(joined(*values));
    }
    return all;
  }

  void add(What what, const std::string& name, const Texts& before, const Texts& after) {
    Texts shared;
    std::set_intersection(before.begin(), before.end(), after.begin(), after.end(),
                          std::inserter(shared, shared.end()));
    if (shared.empty()) changes_.push_back({what, name, {before.begin(), before.end()}, {after.begin(), after.end()}});
  }

  void compare(What what, const std::string& name, const ValueOf& setting_value) {
    const auto before = of_side(normal_, setting_value);
    const auto after = of_side(abnormal_, setting_value);
    if (before && after) add(what, name, *before, *after);
  }

  void compare_folders() {
    const auto folders = [](const std::vector<RunFacts>& side) -> std::optional<Texts> {
      Texts all;
      for (const RunFacts& run : side) {
        const auto values = values_of(run, [&run](const ProcessSetting& one) {
          return one.cwd ? std::optional(argument_identity(*one.cwd, run.tasks)) : std::nullopt;
        });
        if (!values) return std::nullopt;
        all.insert(joined(*values));
      }
      return all;
    };
    const auto before = folders(normal_);
    const auto after = folders(abnormal_);
    if (before && after) add(What::kFolder, "", *before, *after);
  }

  [[nodiscard]] bool has_values(const std::string& name) const {
    const auto has = [&](const std::vector<RunFacts>& side) {
      return std::all_of(side.begin(), side.end(), [&](const RunFacts& run) {
        return std::all_of(run.settings.begin(), run.settings.end(), [&](const ProcessSetting& one) {
          return one.values.count(name) != 0 ||
                 (one.environment && !std::binary_search(one.environment->begin(), one.environment->end(), name));
        });
      });
    };
    return has(normal_) && has(abnormal_);
  }

  // Of variables that are set in some runs of both sides; those of one side only are names.
  void compare_values() {
    for (const std::string& name : names_of([](const ProcessSetting& one) { return keys_of(one.values); })) {
      if (!has_values(name)) continue;
      const auto values = [&name](const std::vector<RunFacts>& side) {
        Texts all;
        for (const RunFacts& run : side)
          for (const ProcessSetting& one : run.settings)
            if (const auto value = one.values.find(name); value != one.values.end()) all.insert(value->second);
        return all;
      };
      const Texts before = values(normal_);
      const Texts after = values(abnormal_);
      if (!before.empty() && !after.empty()) add(What::kVariable, name, before, after);
    }
  }

  void compare_names() {
    for (const auto* side : {&normal_, &abnormal_})
      for (const RunFacts& run : *side)
        for (const ProcessSetting& one : run.settings)
          if (!one.environment) return;
    const auto names = [](const ProcessSetting& one) { return *one.environment; };
    ChangedSetting change{.what = What::kVariables, .name = ""};
    for (const std::string& name : names_of(names)) {
      const auto runs_that_set = [&](const std::vector<RunFacts>& side) {
        return std::count_if(side.begin(), side.end(), [&](const RunFacts& run) {
          return std::any_of(run.settings.begin(), run.settings.end(), [&](const ProcessSetting& one) {
            return std::binary_search(one.environment->begin(), one.environment->end(), name);
          });
        });
      };
      const auto before = static_cast<std::size_t>(runs_that_set(normal_));
      const auto after = static_cast<std::size_t>(runs_that_set(abnormal_));
      if (before == normal_.size() && after == 0) change.normal.push_back(name);
      if (after == abnormal_.size() && before == 0) change.abnormal.push_back(name);
    }
    if (!change.normal.empty() || !change.abnormal.empty()) changes_.push_back(std::move(change));
  }

  const std::vector<RunFacts>& normal_;
  const std::vector<RunFacts>& abnormal_;
  std::vector<ChangedSetting> changes_;
};

}  // namespace

std::string setting_name(const ChangedSetting& change) {
  switch (change.what) {
    case What::kUser:
      return "uid";
    case What::kGroup:
      return "gid";
    case What::kFolder:
      return "working directory";
    case What::kLimit:
      return "limit " + change.name;
    case What::kVariable:
      return "variable " + change.name;
    case What::kVariables:
      break;
  }
  return "environment";
}

std::vector<ChangedSetting> compare_settings(const std::vector<RunFacts>& normal,
                                             const std::vector<RunFacts>& abnormal) {
  for (const auto* side : {&normal, &abnormal})
    for (const RunFacts& run : *side)
      if (run.settings.empty()) return {};
  return SettingComparison(normal, abnormal).run();
}

}  // namespace uscope::analyzer
