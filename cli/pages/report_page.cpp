// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/pages/report_page.h"

#include <nlohmann/json.hpp>

#include "cli/render/json.h"
#include "cli/render/report_render.h"

namespace uscope::cli {

nlohmann::ordered_json report_page(const analyzer::Summary& summary, const std::string& file) {
  return {{"file", json_value(file)}, {"report", report_value(summary)}};
}

}  // namespace uscope::cli
