// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What an application did with files, sockets and other objects, as a table and as JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/files/files.h"
#include "analyzer/files/holders.h"
#include "analyzer/read/event_filter.h"
#include "cli/render/text_table.h"

namespace uscope::cli {

constexpr const char* kUnknownObject = "(unknown)";

// A row for each file. The processes that used it are named if there are several in all.
[[nodiscard]] TextTable files_table(const analyzer::TopList<analyzer::FileLine>& files, bool several_processes);

[[nodiscard]] nlohmann::ordered_json file_json(const analyzer::FileLine& line);

// The output of `uscope files`. `order`: "with most time inside calls"; `callers`: whether these are part of it.
struct FilesLayout {
  std::string order;
  std::string callers_order;
  bool several_processes = false;
  bool callers = false;
  bool failures_only = false;  // lines without one are left out
};
// `held`: who had objects of the table open.
[[nodiscard]] std::string files_text(analyzer::FileTable table, const FilesLayout& layout,
                                     const analyzer::HolderList& held, TextWidth width);
// `part`: what the table is limited to; nullptr: it is the whole recording.
[[nodiscard]] std::string files_json(const analyzer::FileTable& table, bool callers, const analyzer::HolderList& held,
                                     const analyzer::EventFilter* part);

}  // namespace uscope::cli
