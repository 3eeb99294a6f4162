// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/confined_reader.h"

#include <fmt/core.h>

#include <cstdio>
#include <utility>

#include "analyzer/read/completeness.h"
#include "cli/render/wall_time.h"
#include "cli/terminal/paint.h"
#include "support/private_file.h"
#include "support/sandbox/confine.h"
#include "support/text.h"

namespace uscope::cli {

Result<void> confine_reader(std::vector<int> folders) {
  load_time_zone();
  auto temporary = open_temporary_folder();
  if (!temporary) return temporary.error();
  folders.push_back(temporary->get());
  return confine({std::move(folders), false});
}

Result<store::Database> open_store(const std::filesystem::path& file) {
  auto database = store::Database::open(file);
  if (!database) return database;
  const std::string lacking = store::lacking_text(database->lacks());
  if (!lacking.empty())
    std::fputs(fmt::format("uscope: an older uscope made {} (schema {}; now {}), so these are not known: {}\n",
                           printable(file.string()), database->schema(), store::kSchemaVersion, lacking)
                   .c_str(),
               stderr);
  return database;
}

Result<store::Database> open_confined(const std::filesystem::path& file) {
  auto database = open_store(file);
  if (!database) return database;
  if (auto confined = confine_reader(); !confined) return confined.error();
  return database;
}

Result<std::string> missing_events_note(const store::Database& database) {
  const auto found = analyzer::read_completeness(database);
  if (!found) return found.error();
  if (!found->events_missing) return std::string();
  std::string what;
  if (found->lost != 0) what = group_digits(found->lost) + " lost";
  if (found->cut_off) what += std::string(what.empty() ? "" : ", ") + "tracing did not end in order";
  const std::string told = paint_for(stderr)(Ink::kBad, analyzer::kNotComplete);
  return fmt::format("uscope: {}{}{}; `uscope report {}` says more\n", told, what.empty() ? "" : ": ", what,
                     printable(shell_quoted(database.path().string())));
}

Result<void> warn_of_missing_events(const store::Database& database) {
  const auto note = missing_events_note(database);
  if (!note) return note.error();
  std::fputs(note->c_str(), stderr);
  return {};
}

Result<store::Database> open_and_warn(const std::filesystem::path& file) {
  auto database = open_confined(file);
  if (!database) return database;
  if (auto done = warn_of_missing_events(*database); !done) return done.error();
  return database;
}

}  // namespace uscope::cli
