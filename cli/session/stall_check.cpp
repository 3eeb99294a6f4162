// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/stall_check.h"

#include <algorithm>
#include <cstdio>

#include "analyzer/deadlock/deadlock.h"
#include "cli/session/confined_load.h"
#include "cli/terminal/output.h"
#include "cli/terminal/status_line.h"
#include "store/db/database.h"
#include "support/private_file.h"
#include "support/process/priority.h"

namespace uscope::cli {
namespace {

constexpr int kStalled = 1;
constexpr int kNice = 10;

}  // namespace

void ForkedStallCheck::begin() {
  auto started = ChildWork::start([this] { return check(); });
  if (!started) return print_error(started.error());
  work_.emplace(std::move(*started));
}

// A failed check has printed its error, and does not count as a stall.
std::optional<bool> ForkedStallCheck::poll() {
  if (!work_) return false;
  const std::optional<int> code = work_->poll();
  if (!code) return std::nullopt;
  work_.reset();
  return *code == kStalled;
}

// Runs in a child process.
int ForkedStallCheck::check() const {
  lower_priority(kNice);
  const auto stalled = is_stalled();
  if (stalled) return *stalled ? kStalled : 0;
  print_error(stalled.error().in("--until-stall could not look at the trace"));
  return 2;
}

Result<bool> ForkedStallCheck::is_stalled() const {
  const std::vector<int> folders{outputs_.database().folder()};
  auto raw = outputs_.read_raw();
  if (!raw) return raw.error();
  auto store = store::OutputFile::nameless(folders.front());
  if (!store) return store.error();
  auto written = store->duplicate();
  if (!written) return written.error();
  auto temporary = open_sorting_folder(folders.front());
  if (!temporary) return temporary.error();
  StatusLine silent(nullptr);
  const ConfinedLoad how{outputs_.raw_name(), store->path(), folders, false};
  const auto loaded = load_confined(how, std::move(*raw), std::move(*store), {}, silent);
  if (!loaded) return loaded.error();
  const auto database = store::Database::open(std::move(*written), outputs_.raw_name(), std::move(*temporary));
  if (!database) return database.error();
  const auto diagnosis = analyzer::diagnose(*database, {.under_way = true});
  if (!diagnosis) return diagnosis.error();
  const auto& findings = diagnosis->findings;
  return std::any_of(findings.begin(), findings.end(), [this](const analyzer::Finding& finding) {
    return finding.waited_ns >= static_cast<std::int64_t>(stall_ns_);
  });
}

}  // namespace uscope::cli
