// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/confined_reader.h"

#include <utility>

#include "cli/render/wall_time.h"
#include "support/private_file.h"
#include "support/sandbox/confine.h"

namespace uscope::cli {

Result<void> confine_reader(std::vector<int> folders) {
  load_time_zone();
  auto temporary = open_temporary_folder();
  if (!temporary) return temporary.error();
  folders.push_back(temporary->get());
  return confine({std::move(folders), false});
}

Result<store::Database> open_confined(const std::filesystem::path& file) {
  auto database = store::Database::open(file);
  if (!database) return database;
  if (auto confined = confine_reader(); !confined) return confined.error();
  return database;
}

}  // namespace uscope::cli
