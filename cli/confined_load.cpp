#include "cli/confined_load.h"

#include <cstdlib>
#include <string>

#include "support/confine.h"

namespace uscope::cli {
namespace {

std::string folder_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

Result<store::LoadSummary> load_confined(const ConfinedLoad& paths, const store::LoadOptions& options) {
  Confinement confinement;
  confinement.network = paths.network;
  confinement.writable = {folder_of(paths.output), folder_of(paths.raw)};
  if (!paths.keep_raw.empty()) confinement.writable.push_back(folder_of(paths.keep_raw));
  // SQLite sorts in files: beside the output, unless the user has a place for that.
  setenv("SQLITE_TMPDIR", folder_of(paths.output).c_str(), 0);
  confinement.writable.emplace_back(std::getenv("SQLITE_TMPDIR"));
  if (auto confined = confine(confinement); !confined) return confined.error();
  return store::load(paths.raw, paths.output, options);
}

}  // namespace uscope::cli
