// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/deadlock.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/pages/bundles.h"
#include "cli/pages/deadlock_page.h"
#include "cli/pages/html_page.h"
#include "cli/render/deadlock_render.h"
#include "cli/session/attached_trace.h"
#include "cli/session/confined_reader.h"
#include "cli/session/record_target.h"
#include "cli/session/text_output.h"
#include "cli/terminal/pager.h"
#include "cli/verbs/shared_options.h"
#include "store/db/database.h"
#include "store/files/output_file.h"
#include "support/private_file.h"

namespace uscope::cli {
namespace {

void define_deadlock(Verb& verb) {
  auto options = std::make_shared<DeadlockOptions>();
  options->running.takes_command = false;
  verb.add_option("FILE.db", options->file, "a trace that `uscope record` or `uscope load` has written");
  add_running_target(verb, options->running);
  verb.add_option("--backend", options->running.backend,
                  "what traces in the kernel: bpf, kmod (the module), or what works")
      ->one_of({"auto", "bpf", "kmod"})
      ->capture_default_str();
  Option* format = verb.add_choice(
      "--format", options->format, "how to print the result: dot is the graph of who waits for whom",
      {{"text", DeadlockFormat::kText}, {"json", DeadlockFormat::kJson}, {"dot", DeadlockFormat::kDot}});
  add_html(verb, format, options->html, options->force);
  add_color(verb);
  add_no_pager(verb);
  verb.runs([options] { return run_deadlock(*options); });
}

}  // namespace

void add_deadlock(CommandLine& line) {
  line.add_verb("deadlock",
                "find threads that wait for each other: at the end of a trace, or in an application that hangs now",
                define_deadlock);
}

namespace {

int exit_status(const analyzer::Diagnosis& diagnosis) {
  if (diagnosis.verdict == analyzer::Verdict::kUndecided) return kUndecided;
  return diagnosis.verdict == analyzer::Verdict::kNone ? 0 : 1;
}

}  // namespace

Result<int> show_diagnosis(const analyzer::Diagnosis& diagnosis, DeadlockFormat format) {
  Output out(stdout);
  if (format == DeadlockFormat::kText) out.write(deadlock_text(diagnosis, text_width(stdout)));
  if (format == DeadlockFormat::kJson) out.write(deadlock_json(diagnosis));
  if (format == DeadlockFormat::kDot) out.write(deadlock_dot(diagnosis));
  if (auto done = out.finish(); !done) return done.error();
  return exit_status(diagnosis);
}

namespace {

// Shows a diagnosis; returns the exit status.
using Show = std::function<Result<int>(const analyzer::Diagnosis&)>;

Result<int> write_page_of(const analyzer::Diagnosis& diagnosis, const Bundle& bundle, const std::string& target,
                          std::FILE* stream) {
  Output out(stream);
  out.write(html_page(bundle, "uscope deadlock " + target, deadlock_page(diagnosis, target)));
  if (auto done = out.finish(); !done) return done.error();
  return exit_status(diagnosis);
}

// A thread may wait in a circle and yet wake for a moment, again and again: a look that meets it then finds nothing. So
// the application is looked at again if a thread that others wait for was awake.
Result<int> diagnose_running(const RecordVerbOptions& running, const Show& show) {
  constexpr int kMostLooks = 3;
  constexpr int kLookAgain = 100;  // no exit status
  constexpr auto kPause = std::chrono::milliseconds(200);
  for (int looks = 1;; looks++) {
    const auto diagnose = [&](const store::Database& database) -> Result<int> {
      const auto diagnosis = analyzer::diagnose(database);
      if (!diagnosis) return diagnosis.error();
      const bool again = looks < kMostLooks && diagnosis->findings.empty() && diagnosis->owner_awake;
      return again ? Result<int>(kLookAgain) : show(*diagnosis);
    };
    auto status = with_attached_trace(running, diagnose, kDeadlockError);
    if (!status || *status != kLookAgain) return status;
    std::this_thread::sleep_for(kPause);
  }
}

Result<int> write_page_of_file(const DeadlockOptions& options, const Bundle& bundle, const store::OutputPlace& place) {
  const auto database = store::Database::open(options.file);
  if (!database) return database.error();
  int status = 0;
  const auto diagnosis = analyzer::diagnose(*database);
  if (!diagnosis) return diagnosis.error();
  auto done = write_text_output(place, {&*database}, [&](std::FILE* stream) -> Result<void> {
    auto found = write_page_of(*diagnosis, bundle, options.file.string(), stream);
    if (!found) return found.error();
    status = *found;
    return {};
  });
  if (!done) return done.error();
  return status;
}

Result<void> copy_page(int page, std::FILE* stream) {
  const auto from = stream_over(page, "r");
  if (!from) return from.error();
  std::rewind(from->get());
  Output out(stream);
  std::array<char, 1 << 16> buffer{};
  while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), from->get()))
    out.write({buffer.data(), read});
  return out.finish();
}

// What diagnoses an application that runs may not write files any more: it writes the page to one without a name, which
// is then copied.
Result<int> write_page_of_running(const DeadlockOptions& options, const Bundle& bundle,
                                  const store::OutputPlace& place) {
  const auto folder = open_temporary_folder();
  if (!folder) return folder.error();
  const auto page = open_nameless(folder->get());
  if (!page) return page.error();
  const std::string target = describe_target(options.running);
  auto status = diagnose_running(options.running, [&](const analyzer::Diagnosis& diagnosis) -> Result<int> {
    const auto stream = stream_over(page->get());
    return stream ? write_page_of(diagnosis, bundle, target, stream->get()) : stream.error();
  });
  if (!status || *status == kDeadlockError) return status;
  auto done = write_text_output(place, {}, [&](std::FILE* stream) { return copy_page(page->get(), stream); });
  if (!done) return done.error();
  return status;
}

Result<int> write_deadlock_page(const DeadlockOptions& options, bool is_running) {
  const auto bundle = bundle_of(Page::kDeadlock);
  if (!bundle) return bundle.error();
  auto place = store::OutputPlace::find(*options.html, store::OutputKind::kPage, options.force);
  if (!place) return place.error();
  return is_running ? write_page_of_running(options, *bundle, *place) : write_page_of_file(options, *bundle, *place);
}

}  // namespace

Result<int> run_deadlock(const DeadlockOptions& options) {
  const RecordVerbOptions& running = options.running;
  const bool is_running = !running.apps.empty() || !running.pids.empty() || !running.cgroups.empty();
  if (is_running == !options.file.empty())
    return Error{is_running ? "both a trace and a running application are given"
                            : "neither a trace nor a running application is given",
                 "give one of: FILE.db, --pid PID, --app NAME, --cgroup PATH"};
  if (options.html) return write_deadlock_page(options, is_running);
  const Show show = [&options](const analyzer::Diagnosis& diagnosis) {
    return show_diagnosis(diagnosis, options.format);
  };
  if (is_running) return diagnose_running(running, show);
  const Pager pager;
  auto database = open_confined(options.file);
  if (!database) return database.error();
  const auto diagnosis = analyzer::diagnose(*database);
  return diagnosis ? show(*diagnosis) : diagnosis.error();
}

}  // namespace uscope::cli
