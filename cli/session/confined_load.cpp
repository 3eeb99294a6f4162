// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/confined_load.h"

#include <string>
#include <utility>

#include "cli/session/interruption.h"
#include "cli/terminal/output.h"
#include "support/end_signals.h"
#include "support/private_file.h"
#include "support/quiet_thread.h"
#include "support/sandbox/confine.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

Result<void> confine_to(const ConfinedLoad& how) {
  Confinement confinement{how.folders, how.network};
  // SQLite's folder for sorting, the same that DatabaseWriter chooses.
  auto temporary = open_sorting_folder(how.folders.front());
  if (!temporary) return temporary.error();
  confinement.writable.push_back(temporary->get());
  return confine(confinement);
}

Result<store::LoadSummary> load(trace::RawReader&& raw, store::OutputFile&& output, const store::LoadOptions& options) {
  auto writer = store::DatabaseWriter::create(std::move(output));
  if (!writer) return writer.error();
  return store::load(std::move(raw), std::move(*writer), options);
}

}  // namespace

Result<store::LoadSummary> load_confined(const ConfinedLoad& how, trace::RawReader&& raw, store::OutputFile&& output,
                                         store::LoadOptions&& options, StatusLine& status) {
  Result<store::LoadSummary> loaded = Error{};
  {
    const Interruption interruption;
    if (auto confined = confine_to(how); !confined) return confined.error();
    options.stop = [] { return Interruption::signal() != 0; };
    // elfutils needs some 200 KiB of stack for a program's line table.
    const auto done = run_on_large_stack([&] { loaded = load(std::move(raw), std::move(output), options); });
    if (!done) return done.error();
  }
  status.clear();
  const int number = Interruption::signal();
  if (loaded || number == 0) return loaded;
  print_error({"interrupted: nothing was written to " + how.output.string(),
               "`uscope load " + shell_quoted(how.raw.string()) + " -o " + shell_quoted(how.output.string()) +
                   "` does it again"});
  end_by_signal(number);
  return loaded;
}

}  // namespace uscope::cli
