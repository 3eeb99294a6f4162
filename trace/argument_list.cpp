// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/argument_list.h"

#include <nlohmann/json.hpp>

#include "support/text.h"
#include "trace/raw_record.h"

namespace uscope::trace {

std::string argument_list_json(std::string_view arguments, bool is_cut) {
  nlohmann::json array = nlohmann::json::array();
  for (const std::string_view argument : split_nul(arguments)) array.push_back(trace_text(argument));
  if (!is_cut) return array.dump();
  if (!arguments.empty() && arguments.back() != '\0') array.back() = array.back().get<std::string>() + "…";
  array.push_back(nullptr);
  return array.dump();
}

}  // namespace uscope::trace
