// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/deadlock.h"

#include <cstdio>
#include <memory>

#include "cli/render/deadlock_render.h"
#include "cli/session/attached_trace.h"
#include "cli/session/confined_reader.h"
#include "cli/verbs/shared_options.h"
#include "store/db/database.h"

namespace uscope::cli {

void add_deadlock(CommandLine& line) {
  auto options = std::make_shared<DeadlockOptions>();
  options->running.takes_command = false;
  Verb* verb = line.add_verb(
      "deadlock", "find threads that wait for each other: at the end of a trace, or in an application that hangs now");
  verb->add_option("FILE.db", options->file, "a trace that `uscope record` or `uscope load` has written");
  add_running_target(*verb, options->running);
  verb->add_option("--backend", options->running.backend,
                   "what traces in the kernel: bpf, kmod (the module), or what works")
      ->one_of({"auto", "bpf", "kmod"})
      ->capture_default_str();
  verb->add_choice("--format", options->format, "how to print the result: dot is the graph of who waits for whom",
                   {{"text", DeadlockFormat::kText}, {"json", DeadlockFormat::kJson}, {"dot", DeadlockFormat::kDot}});
  verb->runs([options] { return run_deadlock(*options); });
}

Result<int> show_diagnosis(const analyzer::Diagnosis& diagnosis, DeadlockFormat format) {
  Output out(stdout);
  if (format == DeadlockFormat::kText) out.write(deadlock_text(diagnosis, text_width(stdout).columns));
  if (format == DeadlockFormat::kJson) out.write(deadlock_json(diagnosis));
  if (format == DeadlockFormat::kDot) out.write(deadlock_dot(diagnosis));
  if (auto done = out.finish(); !done) return done.error();
  if (diagnosis.verdict == analyzer::Verdict::kUndecided) return kUndecided;
  return diagnosis.verdict == analyzer::Verdict::kNone ? 0 : 1;
}

namespace {

Result<int> diagnose_store(const store::Database& database, DeadlockFormat format) {
  auto diagnosis = analyzer::diagnose(database);
  if (!diagnosis) return diagnosis.error();
  return show_diagnosis(*diagnosis, format);
}

}  // namespace

Result<int> run_deadlock(const DeadlockOptions& options) {
  const RecordVerbOptions& running = options.running;
  const bool is_running = !running.apps.empty() || !running.pids.empty() || !running.cgroups.empty();
  if (is_running == !options.file.empty())
    return Error{is_running ? "both a trace and a running application are given"
                            : "neither a trace nor a running application is given",
                 "give one of: FILE.db, --pid PID, --app NAME, --cgroup PATH"};
  const auto diagnose = [&options](const store::Database& database) {
    return diagnose_store(database, options.format);
  };
  if (is_running) return with_attached_trace(running, diagnose, kDeadlockError);
  auto database = open_confined(options.file);
  if (!database) return database.error();
  return diagnose(*database);
}

}  // namespace uscope::cli
