// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What an application did with files, sockets and other objects, as a table and as JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/files/files.h"
#include "cli/render/text_table.h"

namespace uscope::cli {

// A row for each file; an object that is not known is "(unknown)".
[[nodiscard]] TextTable files_table(const analyzer::TopList<analyzer::FileLine>& files);

[[nodiscard]] nlohmann::ordered_json file_json(const analyzer::FileLine& line);

// The output of `uscope files`. `order`: "with most time inside calls".
[[nodiscard]] std::string files_text(const analyzer::FileTable& table, const std::string& order, TextWidth width);
[[nodiscard]] std::string files_json(const analyzer::FileTable& table);

}  // namespace uscope::cli
