#include "cli/confined_load.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/confine.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

std::string folder_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  return folder.empty() ? "." : folder.string();
}

volatile std::sig_atomic_t interrupted_by = 0;

// While it lives, signals that would end the process are kept in interrupted_by.
class Interruption {
 public:
  Interruption() {
    interrupted_by = 0;
    for (std::size_t i = 0; i < kSignals.size(); i++) {
      struct sigaction action {};
      sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      action.sa_handler = [](int number) { interrupted_by = number; };
      sigaction(kSignals[i], &action, nullptr);
    }
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption() {
    for (std::size_t i = 0; i < kSignals.size(); i++) sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

Result<void> confine_to(const ConfinedLoad& paths) {
  Confinement confinement;
  confinement.network = paths.network;
  confinement.writable = {folder_of(paths.output), folder_of(paths.raw)};
  if (!paths.keep_raw.empty()) confinement.writable.push_back(folder_of(paths.keep_raw));
  // SQLite sorts in files: beside the output, unless the user has a place for that.
  setenv("SQLITE_TMPDIR", folder_of(paths.output).c_str(), 0);
  confinement.writable.emplace_back(std::getenv("SQLITE_TMPDIR"));
  return confine(confinement);
}

}  // namespace

Result<store::LoadSummary> load_confined(const ConfinedLoad& paths, store::LoadOptions&& options, StatusLine& status) {
  Result<store::LoadSummary> loaded = Error{};
  {
    const Interruption interruption;
    if (auto confined = confine_to(paths); !confined) return confined.error();
    options.stop = [] { return interrupted_by != 0; };
    loaded = store::load(paths.raw, paths.output, options);
  }
  status.clear();
  if (loaded || interrupted_by == 0) return loaded;
  const std::string raw = escape_terminal(paths.raw.string());
  const std::string output = escape_terminal(paths.output.string());
  std::fprintf(stderr, "uscope: interrupted: nothing was written to %s\n  `uscope load %s -o %s` does it again\n",
               output.c_str(), raw.c_str(), output.c_str());
  std::raise(interrupted_by);
  return loaded;
}

}  // namespace uscope::cli
