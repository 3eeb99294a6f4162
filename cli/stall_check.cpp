#include "cli/stall_check.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

#include "analyzer/deadlock.h"
#include "cli/confined_load.h"
#include "cli/output.h"
#include "cli/status_line.h"
#include "store/database.h"

namespace uscope::cli {
namespace {

constexpr int kStalled = 1;
constexpr int kNice = 10;

}  // namespace

ForkedStallCheck::~ForkedStallCheck() {
  work_.reset();
  std::error_code error;
  std::filesystem::remove(store_, error);
}

void ForkedStallCheck::begin() {
  auto started = ChildWork::start([this] { return check(); });
  if (!started) return print_error(started.error());
  work_.emplace(std::move(*started));
}

// A check that failed has said why, and says nothing of the threads.
std::optional<bool> ForkedStallCheck::poll() {
  if (!work_) return false;
  const std::optional<int> code = work_->poll();
  if (!code) return std::nullopt;
  work_.reset();
  return *code == kStalled;
}

// In a process of its own.
int ForkedStallCheck::check() const {
  setpriority(PRIO_PROCESS, 0, kNice);
  StatusLine silent(nullptr);
  const auto loaded = load_confined({raw_, store_, {}, false}, {}, silent);
  const auto failed = [](const Error& error) {
    print_error(error.in("--until-stall could not look at the trace"));
    return 2;
  };
  if (!loaded) return failed(loaded.error());
  const auto database = store::Database::open(store_);
  if (!database) return failed(database.error());
  const auto diagnosis = analyzer::diagnose(*database, true);
  if (!diagnosis) return failed(diagnosis.error());
  const auto& findings = diagnosis->findings;
  const bool stalled = std::any_of(findings.begin(), findings.end(), [this](const analyzer::Finding& finding) {
    return finding.waited_ns >= static_cast<std::int64_t>(stall_ns_);
  });
  return stalled ? kStalled : 0;
}

}  // namespace uscope::cli
