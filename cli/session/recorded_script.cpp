// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/recorded_script.h"

#include <cstdio>
#include <utility>

#include "support/text.h"

namespace uscope::cli {

RecordedScript::RecordedScript(const std::string& file, StatusLine& status) : status_(status) {
  if (file.empty()) return;
  auto prepared = StapScript::prepare(file);
  if (prepared)
    script_ = std::move(*prepared);
  else
    show(prepared.error());
}

void RecordedScript::load() {
  if (!script_) return;
  if (auto loaded = script_->load(); !loaded) show(loaded.error());
}

void RecordedScript::check() {
  if (script_) show(script_->trouble());
}

bool RecordedScript::step_unload() {
  if (!script_) return true;
  check();
  if (!script_->step_unload()) return false;
  show(script_->left());
  return true;
}

void RecordedScript::show(const std::optional<Error>& error) {
  if (!error) return;
  status_.clear();
  const std::string remedy = error->remedy.empty() ? "" : "; " + error->remedy;
  std::fprintf(stderr, "uscope: --stap: %s\n", escape_terminal(error->what + remedy).c_str());
}

}  // namespace uscope::cli
