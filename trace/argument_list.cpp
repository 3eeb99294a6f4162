// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/argument_list.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "support/text.h"
#include "trace/raw_record.h"
#include "trace/record_type.h"

namespace uscope::trace {

ExecArguments exec_arguments(const usc_exec& exec, std::string_view tail) {
  const std::size_t path = std::min<std::size_t>(exec.path_bytes, tail.size());
  ExecArguments out{tail.substr(path, exec.argv_bytes), exec.argv_total > exec.argv_bytes, {}};
  const std::size_t at = padded(path + out.list.size());
  usc_argv_end head{};
  if (!out.is_cut || tail.size() < at + sizeof(head)) return out;
  std::memcpy(static_cast<void*>(&head), tail.data() + at, sizeof(head));
  out.end = tail.substr(at + sizeof(head), head.bytes);
  // The first of these bytes belong to an argument whose beginning is not there.
  out.end.remove_prefix(std::min(out.end.find('\0'), out.end.size() - 1) + 1);
  return out;
}

void add_argument_end(std::string& tail, std::string_view end) {
  if (end.empty()) return;
  usc_argv_end head{};
  head.bytes = static_cast<__u16>(std::min<std::size_t>(end.size() + 1, UINT16_MAX));
  tail.resize(padded(tail.size()));
  tail.append(reinterpret_cast<const char*>(&head), sizeof(head));
  tail += '\0';
  tail += end;
}

std::string argument_list_json(std::string_view arguments, bool is_cut, std::string_view end) {
  nlohmann::json array = nlohmann::json::array();
  for (const std::string_view argument : split_nul(arguments)) array.push_back(trace_text(argument));
  if (!is_cut) return array.dump();
  if (!arguments.empty() && arguments.back() != '\0') array.back() = array.back().get<std::string>() + "…";
  array.push_back(nullptr);
  for (const std::string_view argument : split_nul(end)) array.push_back(trace_text(argument));
  return array.dump();
}

}  // namespace uscope::trace
