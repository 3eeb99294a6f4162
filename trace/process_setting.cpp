// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/process_setting.h"

#include <nlohmann/json.hpp>

#include "support/text.h"

namespace uscope::trace {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json limit_json(std::uint64_t limit) {
  return limit == ProcessSetting::kUnlimited ? ordered_json() : ordered_json(limit);
}

template <typename Number>
std::optional<Number> number_at(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<Number>();
}

std::uint64_t limit_of(const json& value) {
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : ProcessSetting::kUnlimited;
}

ProcessSetting setting_of(const json& object) {
  ProcessSetting setting;
  setting.pid = number_at<std::uint32_t>(object, "pid").value_or(0);
  setting.uid = number_at<std::uint32_t>(object, "uid");
  setting.gid = number_at<std::uint32_t>(object, "gid");
  if (const auto cwd = object.find("cwd"); cwd != object.end() && cwd->is_string())
    setting.cwd = cwd->get<std::string>();
  if (const auto limits = object.find("limits"); limits != object.end() && limits->is_object())
    for (const auto& [name, pair] : limits->items())
      if (pair.is_array() && pair.size() == 2) setting.limits[name] = {limit_of(pair[0]), limit_of(pair[1])};
  if (const auto names = object.find("environment"); names != object.end() && names->is_array()) {
    setting.environment.emplace();
    for (const json& name : *names)
      if (name.is_string()) setting.environment->push_back(name.get<std::string>());
  }
  if (const auto values = object.find("values"); values != object.end() && values->is_object())
    for (const auto& [name, value] : values->items())
      if (value.is_string()) setting.values[name] = value.get<std::string>();
  return setting;
}

}  // namespace

std::string settings_text(const std::vector<ProcessSetting>& settings) {
  ordered_json list = ordered_json::array();
  for (const ProcessSetting& setting : settings) {
    ordered_json one = ordered_json::object();
    if (setting.pid != 0) one["pid"] = setting.pid;
    if (setting.uid) one["uid"] = *setting.uid;
    if (setting.gid) one["gid"] = *setting.gid;
    if (setting.cwd) one["cwd"] = trace_text(*setting.cwd);
    ordered_json limits = ordered_json::object();
    for (const auto& [name, pair] : setting.limits) limits[name] = {limit_json(pair.first), limit_json(pair.second)};
    one["limits"] = std::move(limits);
    if (setting.environment) {
      ordered_json names = ordered_json::array();
      for (const std::string& name : *setting.environment) names.push_back(trace_text(name));
      one["environment"] = std::move(names);
    }
    ordered_json values = ordered_json::object();
    for (const auto& [name, value] : setting.values) values[trace_text(name)] = trace_text(value);
    one["values"] = std::move(values);
    list.push_back(std::move(one));
  }
  return list.dump();
}

std::vector<ProcessSetting> settings_of(const std::string& text) {
  std::vector<ProcessSetting> settings;
  const json list = json::parse(text, nullptr, false);
  if (!list.is_array()) return settings;
  for (const json& one : list)
    if (one.is_object()) settings.push_back(setting_of(one));
  return settings;
}

}  // namespace uscope::trace
