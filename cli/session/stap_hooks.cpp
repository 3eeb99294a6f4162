// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/stap_hooks.h"

#include <cstdio>
#include <utility>

#include "support/text.h"

namespace uscope::cli {
namespace {

void show_error(StatusLine& status, const std::optional<Error>& error) {
  if (!error) return;
  status.clear();
  const std::string remedy = error->remedy.empty() ? "" : "; " + error->remedy;
  std::fprintf(stderr, "uscope: --stap: %s\n", escape_terminal(error->what + remedy).c_str());
}

}  // namespace

std::unique_ptr<StapScript> hook_script(const std::string& file, StatusLine& status, tracer::RecordHooks& hooks) {
  if (file.empty()) return nullptr;
  auto prepared = StapScript::prepare(file);
  if (!prepared) {
    show_error(status, prepared.error());
    return nullptr;
  }
  StapScript* script = prepared->get();
  hooks.ready = [script, &status] {
    if (auto loaded = script->load(); !loaded) show_error(status, loaded.error());
  };
  hooks.ending = [script, &status] {
    show_error(status, script->trouble());
    if (!script->step_unload()) return false;
    show_error(status, script->left());
    return true;
  };
  hooks.status = [script, &status, show = std::move(hooks.status)](const tracer::TraceFigures& now, double seconds) {
    show_error(status, script->trouble());
    if (show) show(now, seconds);
  };
  return std::move(*prepared);
}

}  // namespace uscope::cli
