// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/deadlock.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
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
  add_thread_options(verb, options->part);
  add_time_options(verb, options->part,
                   "only waits that began then or later: 14:05:30, or 1.5s after the trace's start",
                   "what threads waited in then, not at the end of the trace");
  Option* format = verb.add_choice(
      "--format", options->format, "how to print the result: dot is the graph of who waits for whom",
      {{"text", DeadlockFormat::kText}, {"json", DeadlockFormat::kJson}, {"dot", DeadlockFormat::kDot}});
  verb.add_flag("-k,--stack", options->stacks, "the stack of each thread that waits, in text");
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

// Makes the result's text of a diagnosis.
using Render = std::function<std::string(const analyzer::Diagnosis&)>;

Render by_format(const DeadlockOptions& options) {
  return [format = options.format, stacks = options.stacks](const analyzer::Diagnosis& diagnosis) {
    if (format == DeadlockFormat::kJson) return deadlock_json(diagnosis);
    if (format == DeadlockFormat::kDot) return deadlock_dot(diagnosis);
    return deadlock_text(diagnosis, text_width(stdout), stacks);
  };
}

Render as_page(const Bundle& bundle, const std::string& target) {
  return [&bundle, target](const analyzer::Diagnosis& diagnosis) {
    return html_page(bundle, "uscope deadlock " + target, deadlock_page(diagnosis, target));
  };
}

Result<void> write_text(const std::string& text, std::FILE* stream) {
  Output out(stream);
  out.write(text);
  return out.finish();
}

}  // namespace

Result<int> show_diagnosis(const analyzer::Diagnosis& diagnosis, const DeadlockOptions& options) {
  if (auto done = write_text(by_format(options)(diagnosis), stdout); !done) return done.error();
  return exit_status(diagnosis);
}

namespace {

Result<analyzer::Diagnosis> diagnose_file(const DeadlockOptions& options, const store::Database& database) {
  EventOptions chosen = options.part;
  chosen.filter.pids.assign(options.running.pids.begin(), options.running.pids.end());
  auto part = part_filter(chosen, database);
  if (!part) return part.error();
  const bool chooses = !part->pids.empty() || !part->tids.empty() || !part->threads.empty();
  auto diagnosis = analyzer::diagnose(database, {.part = *part});
  // A number or a name that the trace does not have is no sign of good health.
  if (diagnosis && chooses && diagnosis->shown == 0)
    if (auto done = say_none_match(options.file.string(), database, *part); !done) return done.error();
  return diagnosis;
}

Result<int> write_page_of_file(const DeadlockOptions& options, const Bundle& bundle, const store::OutputPlace& place) {
  const auto database = open_store(options.file);
  if (!database) return database.error();
  int status = 0;
  auto done = write_text_output(place, {&*database}, [&](std::FILE* stream) -> Result<void> {
    const auto diagnosis = diagnose_file(options, *database);
    if (!diagnosis) return diagnosis.error();
    status = exit_status(*diagnosis);
    return write_text(as_page(bundle, options.file.string())(*diagnosis), stream);
  });
  if (!done) return done.error();
  return status;
}

// Puts the text in place of what the file holds.
Result<void> replace_text(int file, const std::string& text) {
  if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0)
    return errno_error("cannot write a file without a name", errno);
  const auto stream = stream_over(file);
  return stream ? write_text(text, stream->get()) : stream.error();
}

Result<void> copy_text(int file, std::FILE* stream) {
  const auto from = stream_over(file, "r");
  if (!from) return from.error();
  std::rewind(from->get());
  Output out(stream);
  std::array<char, 1 << 13> buffer{};
  while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), from->get()))
    out.write({buffer.data(), read});
  return out.finish();
}

// Looks at a running application, and writes the result to `answer`; returns the exit status. Threads of a Java virtual
// machine that wait in a circle wake for a moment, once a second, and a look that meets one of them then finds nothing:
// so there are up to three looks. If a later one fails, since the application has ended, the one before it counts.
Result<int> look_at_running(const DeadlockOptions& options, const Render& render, int answer) {
  const RecordVerbOptions& running = options.running;
  constexpr int kMostLooks = 3;
  constexpr int kLookAgain = 64;  // added to the exit status of the child process that diagnoses
  constexpr auto kPause = std::chrono::milliseconds(200);
  std::optional<int> before;
  for (int looks = 1;; looks++) {
    const auto diagnose = [&](const store::Database& database) -> Result<int> {
      const auto diagnosis = analyzer::diagnose(database, {.part = options.part.filter});
      if (!diagnosis) return diagnosis.error();
      if (auto done = replace_text(answer, render(*diagnosis)); !done) return done.error();
      const bool again = looks < kMostLooks && diagnosis->findings.empty() && diagnosis->awake_at_monitor;
      return exit_status(*diagnosis) + (again ? kLookAgain : 0);
    };
    auto status = with_attached_trace(running, diagnose, kDeadlockError);
    if (!status || *status == kDeadlockError) return before ? Result<int>(*before) : status;
    if (*status < kLookAgain || *status > kLookAgain + kUndecided) return status;
    before = *status - kLookAgain;
    std::this_thread::sleep_for(kPause);
  }
}

// What diagnoses an application that runs may not write files any more: it writes the result to one without a name,
// which `deliver` then copies.
Result<int> diagnose_running(const DeadlockOptions& options, const Render& render,
                             const std::function<Result<void>(int answer)>& deliver) {
  const auto folder = open_temporary_folder();
  if (!folder) return folder.error();
  const auto answer = open_nameless(folder->get());
  if (!answer) return answer.error();
  auto status = look_at_running(options, render, answer->get());
  if (!status || (*status != 0 && *status != 1 && *status != kUndecided)) return status;
  if (auto done = deliver(answer->get()); !done) return done.error();
  return status;
}

Result<int> write_deadlock_page(const DeadlockOptions& options, bool is_running) {
  const auto bundle = bundle_of(Page::kDeadlock);
  if (!bundle) return bundle.error();
  auto place = store::OutputPlace::find(*options.html, store::OutputKind::kPage, options.force);
  if (!place) return place.error();
  if (!is_running) return write_page_of_file(options, *bundle, *place);
  return diagnose_running(options, as_page(*bundle, describe_target(options.running)), [&place](int answer) {
    return write_text_output(*place, {}, [answer](std::FILE* stream) { return copy_text(answer, stream); });
  });
}

}  // namespace

Result<int> run_deadlock(const DeadlockOptions& options) {
  const RecordVerbOptions& running = options.running;
  // Of a trace, --pid chooses among its processes.
  const bool is_running =
      !running.apps.empty() || !running.cgroups.empty() || (!running.pids.empty() && options.file.empty());
  if (is_running && !(options.part.since.empty() && options.part.until.empty()))
    return Error{"--since and --until are times of a recording, and an application that runs is looked at now",
                 "leave them out, or record it: uscope record --app NAME -o FILE.db"};
  if (is_running == !options.file.empty())
    return Error{is_running ? "both a trace and a running application are given"
                            : "neither a trace nor a running application is given",
                 "give one of: FILE.db, --pid PID, --app NAME, --cgroup PATH"};
  if (options.html) return write_deadlock_page(options, is_running);
  if (is_running)
    return diagnose_running(options, by_format(options), [](int answer) { return copy_text(answer, stdout); });
  const Pager pager;
  auto database = open_confined(options.file);
  if (!database) return database.error();
  const auto diagnosis = diagnose_file(options, *database);
  return diagnosis ? show_diagnosis(*diagnosis, options) : diagnosis.error();
}

}  // namespace uscope::cli
