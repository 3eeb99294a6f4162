#include "cli/deadlock.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "store/database.h"

namespace uscope::cli {

void add_deadlock(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<DeadlockOptions>();
  CLI::App* verb = app.add_subcommand("deadlock", "which threads wait for each other at a trace's end, and for what");
  verb->add_option("FILE.db", options->file, "a trace that `uscope record` or `uscope load` has written")->required();
  add_format(*verb, options->format);
  verb->callback([options, &invocation] { invocation.run = [options] { return run_deadlock(*options); }; });
}

Result<int> show_diagnosis(const analyzer::Diagnosis& diagnosis, Format format) {
  Output out(stdout);
  out.write(format == Format::kText ? deadlock_text(diagnosis, text_width(stdout)) : deadlock_json(diagnosis));
  if (auto done = out.finish(); !done) return done.error();
  return diagnosis.verdict == analyzer::Verdict::kNone ? 0 : 1;
}

Result<int> run_deadlock(const DeadlockOptions& options) {
  auto database = store::Database::open(options.file);
  if (!database) return database.error();
  auto diagnosis = analyzer::diagnose(*database);
  if (!diagnosis) return diagnosis.error();
  return show_diagnosis(*diagnosis, options.format);
}

}  // namespace uscope::cli
