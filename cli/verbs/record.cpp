// `uscope record`: sets the recording up, runs it, loads the raw trace into the database, ends as the command ended.
#include "cli/verbs/record.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "analyzer/deadlock/deadlock.h"
#include "cli/render/units.h"
#include "cli/session/confined_load.h"
#include "cli/session/live_printer.h"
#include "cli/session/load_options.h"
#include "cli/session/output_owner.h"
#include "cli/session/record_outputs.h"
#include "cli/session/record_target.h"
#include "cli/session/stall_check.h"
#include "cli/session/stap_hooks.h"
#include "cli/terminal/output.h"
#include "cli/terminal/status_line.h"
#include "cli/verbs/deadlock.h"
#include "store/loader.h"
#include "support/private_file.h"
#include "support/redactor.h"
#include "support/text.h"
#include "syscalls/syscall_table.h"
#include "tracer/recorder/recorder.h"
#include "uscope/futex.h"

namespace uscope::cli {
namespace {

constexpr int kTracingFailed = 125;
constexpr int kCannotExecute = 126;
constexpr int kNotFound = 127;

// "10M", "1.5G", "4096": bytes.
Result<std::uint64_t> parse_size(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  double factor = 1;
  if (unit == "K" || unit == "k")
    factor = 1024.0;
  else if (unit == "M")
    factor = 1024.0 * 1024;
  else if (unit == "G")
    factor = 1024.0 * 1024 * 1024;
  else if (!unit.empty())
    factor = -1;
  if (end == text.c_str() || !std::isfinite(number) || number <= 0 || factor < 0)
    return Error{"not a size: " + text, "give bytes, or a number with K, M or G"};
  return static_cast<std::uint64_t>(number * factor);
}

// Without strings there are still futexes.
void choose_strings(const RecordVerbOptions& options, usc_config& config) {
  if (!options.no_strings) config.string_bytes = options.string_bytes;
  const auto chosen = [&](usc_abi abi, std::uint32_t nr) {
    const std::uint32_t kinds = syscalls::syscall_strings(abi, nr);
    return options.no_strings && kinds != USC_STRING_FUTEX ? 0 : kinds;
  };
  for (std::uint32_t nr = 0; nr < USC_SYSCALL_BITS; nr++) {
    config.strings_x86_64[nr] = chosen(USC_ABI_X86_64, nr);
    config.strings_i386[nr] = chosen(USC_ABI_I386, nr);
  }
}

// As the trace is to have it.
std::vector<std::string> recorded_command(const RecordVerbOptions& options) {
  const Redactor redactor(options.redact);
  std::vector<std::string> out;
  for (const std::string& argument : options.command)
    out.push_back(redactor.hides(argument) ? std::string(kRedacted) : argument);
  if (options.no_strings && out.size() > 1) {
    out.resize(1);
    out.emplace_back("…");
  }
  return out;
}

}  // namespace

Result<tracer::RecordOptions> recorder_options(const RecordVerbOptions& options) {
  tracer::RecordOptions out;
  if (auto set = set_target(options, out); !set) return set.error();
  out.config.scope = {static_cast<__u32>(options.mode), options.budget};
  out.config.verify_every = options.verify_every;
  auto calls = syscalls::parse_syscall_set(options.calls);
  if (!calls) return calls.error();
  for (std::size_t nr = 0; nr < USC_SYSCALL_BITS; nr++) {
    if (calls->x86_64[nr]) out.config.calls_x86_64[nr / 64] |= 1ull << nr % 64;
    if (calls->i386[nr]) out.config.calls_i386[nr / 64] |= 1ull << nr % 64;
  }
  choose_strings(options, out.config);
  out.redact = options.redact;
  out.modules = {options.app_modules, options.excluded_modules};
  if (options.backend == "bpf") out.backend = tracer::BackendChoice::kBpf;
  if (!options.stap.empty() && options.backend == "bpf")
    return Error{"--stap needs the kernel module, and --backend bpf is asked for", "leave --backend out"};
  if (options.backend == "kmod" || !options.stap.empty()) out.backend = tracer::BackendChoice::kKmod;
  if (!options.duration.empty()) {
    auto duration = parse_duration(options.duration);
    if (!duration) return duration.error();
    out.duration_ns = static_cast<std::uint64_t>(*duration);
  }
  if (!options.until_stall.empty()) {
    auto duration = parse_duration(options.until_stall);
    if (!duration) return duration.error();
    out.stall_ns = static_cast<std::uint64_t>(*duration);
    if (!calls->x86_64[USC_FUTEX_X86_64])
      return Error{"--until-stall looks at futex calls, which -e " + options.calls + " leaves out", "add futex to -e"};
  }
  if (!options.max_size.empty()) {
    auto size = parse_size(options.max_size);
    if (!size) return size.error();
    out.max_bytes = *size;
  }
  const auto joined = [](const std::vector<std::string>& list) {
    nlohmann::json array = nlohmann::json::array();
    for (const std::string& item : list) array.push_back(to_utf8(item));
    return array.dump();
  };
  utsname system{};
  uname(&system);
  out.meta = {{"uscope_version", USCOPE_VERSION},
              {"host", to_utf8(system.nodename)},
              {"kernel", std::string(system.sysname) + " " + system.release},
              {"mode", std::to_string(options.mode)},
              {"frames", std::to_string(options.budget)},
              {"calls", options.calls},
              {"target", to_utf8(Redactor(options.redact).hides(describe_target(options)) ? std::string(kRedacted)
                                                                                          : describe_target(options))},
              {"strings", std::to_string(out.config.string_bytes)},
              {"redact", joined(options.redact)},
              {"follow", options.follow},
              {"app_modules", joined(options.app_modules)},
              {"excluded_modules", joined(options.excluded_modules)},
              {"verify_every", std::to_string(options.verify_every)}};
  if (!options.stap.empty()) out.meta.emplace_back("stap", to_utf8(options.stap));
  if (!options.command.empty()) out.meta.emplace_back("command", joined(recorded_command(options)));
  return out;
}

namespace {

const char* reason_text(tracer::StopReason reason, bool launched) {
  switch (reason) {
    case tracer::StopReason::kInterrupted:
      return launched ? "interrupted: the command goes on untraced" : "";
    case tracer::StopReason::kDuration:
      return launched ? "--duration has passed: the command goes on untraced" : "";
    case tracer::StopReason::kStalled:
      return launched ? "threads wait for each other: the command goes on untraced" : "threads wait for each other";
    case tracer::StopReason::kMaxSize:
      return launched ? "--max-size is reached: the command goes on untraced" : "--max-size is reached";
    case tracer::StopReason::kWriteFailed:  // said before it is loaded
    case tracer::StopReason::kFinished:
      break;
  }
  return "";
}

// What was found running.
void print_attached(const RecordVerbOptions& options, std::uint64_t threads) {
  const std::string target = escape_terminal(describe_target(options));
  if (threads != 0)
    std::fprintf(stderr, "uscope: tracing %s: %s threads run already; Ctrl-C ends tracing\n", target.c_str(),
                 group_digits(threads).c_str());
  else
    std::fprintf(stderr, "uscope: nothing of %s runs yet: waiting for it; Ctrl-C ends tracing\n", target.c_str());
}

void print_summary(const RecordVerbOptions& options, const tracer::RecordOutcome& outcome,
                   const store::LoadSummary& loaded, bool replaced) {
  std::string line = "uscope: " + group_digits(loaded.events) + " events, " + group_digits(loaded.lost) + " lost";
  line += ", " + group_digits(loaded.processes) + (loaded.processes == 1 ? " process" : " processes");
  line += ", " + human_duration(static_cast<double>(outcome.duration_ns)) + " -> " + escape_terminal(options.output);
  if (replaced) line += ", in place of an older file";
  std::fprintf(stderr, "%s\n", line.c_str());
  if (const char* why = reason_text(outcome.reason, !options.command.empty()); *why != '\0')
    std::fprintf(stderr, "  tracing ended early: %s\n", why);
}

// The command's own end becomes ours; a signal is raised again, so that the caller sees it.
int end_as(const tracer::RecordOutcome& outcome) {
  if (!outcome.command) return 0;
  if (outcome.command->signal == 0) return outcome.command->code;
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(outcome.command->signal, SIG_DFL);
  raise(outcome.command->signal);
  return 128 + outcome.command->signal;
}

// As `uscope deadlock` tells it, but beside the command's own output.
Result<int> show_stall(UniqueFd store, const RecordOutputs& outputs) {
  auto temporary = open_sorting_folder(outputs.database().folder());
  if (!temporary) return temporary.error();
  const auto database = store::Database::open(std::move(store), outputs.database().path(), std::move(*temporary));
  if (!database) return database.error();
  const auto diagnosis = analyzer::diagnose(*database);
  if (!diagnosis) return diagnosis.error();
  std::fputs(deadlock_text(*diagnosis, text_width(stderr)).c_str(), stderr);
  constexpr int kStalled = 1;
  return kStalled;
}

}  // namespace

void add_record(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<RecordVerbOptions>();
  CLI::App* verb = app.add_subcommand("record", "trace a command, or applications that run, into a database");
  verb->add_option("-o,--output", options->output, "the database to write")
      ->type_name("FILE.db")
      ->capture_default_str();
  verb->add_option("--mode", options->mode, "frames to keep: 1 app-last, 2 app-all, 3 all-last, 4 all-all")
      ->transform(CLI::CheckedTransformer(std::map<std::string, int>{
          {"app-last", 1}, {"app-all", 2}, {"all-last", 3}, {"all-all", 4}, {"1", 1}, {"2", 2}, {"3", 3}, {"4", 4}}))
      ->capture_default_str();
  verb->add_option("-S,--frames", options->budget, "frames kept of each stack, at most")
      ->check(CLI::Range(1, USC_MAX_FRAMES))
      ->capture_default_str();
  verb->add_option("-e,--calls", options->calls, "calls to record: names, %file %network ..., all; ! excludes")
      ->type_name("SET")
      ->capture_default_str();
  verb->add_option("--backend", options->backend, "what traces in the kernel: bpf, kmod (the module), or what works")
      ->check(CLI::IsMember({"auto", "bpf", "kmod"}))
      ->capture_default_str();
  verb->add_option("-u,--user", options->user, "run the command as this user")->type_name("USER");
  verb->add_option("--app-module", options->app_modules, "modules that are the application's too (a server's plug-ins)")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  verb->add_option("--exclude-module", options->excluded_modules, "modules whose frames are skipped")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  verb->add_flag("--no-strings", options->no_strings,
                 "read no paths, names and addresses that calls are given, and keep no argument lists");
  verb->add_option("--redact", options->redact,
                   "put [redacted] in place of strings that match, before they are written")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  verb->add_option("--string-bytes", options->string_bytes, "bytes kept of each string, at most")
      ->check(CLI::Range(1, USC_STRING_MOST))
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag("--print", options->print, "print each call when it ends, as strace does");
  verb->add_option("--duration", options->duration, "stop tracing after this time: 30s, 5m")->type_name("T");
  verb->add_option("--max-size", options->max_size, "stop tracing when the raw trace is this large: 500M, 2G")
      ->type_name("B");
  verb->add_option("--until-stall", options->until_stall,
                   "stop when threads have waited for each other this long, and tell which: 10s")
      ->type_name("T");
  verb->add_option("--keep-raw", options->keep_raw, "keep the raw trace, for `uscope load`")->type_name("FILE");
  verb->add_flag("--force", options->force, "write also in place of a file that is no trace of uscope's");
  verb->add_option("--verify", options->verify_every,
                   "compare every Nth stack with libdwfl's walk of the same stack copy")
      ->type_name("N");
  verb->add_option("--stap", options->stap,
                   "load a SystemTap script beside the kernel module: FILE.stp, or the FILE.ko of uscope-stap -p4")
      ->type_name("FILE");
  add_debuginfod(*verb, options->debuginfod);
  add_target(*verb, *options);
  verb->callback([options, &invocation] {
    invocation.error_code = kTracingFailed;
    invocation.run = [options] { return run_record(*options); };
  });
}

namespace {

// From the raw trace to the database and its owner.
Result<int> load_recording(const RecordVerbOptions& options, const tracer::RecordOutcome& outcome,
                           RecordOutputs& outputs, std::optional<symbolizer::Debuginfod>& debuginfod,
                           store::LoadOptions&& loading, StatusLine& status) {
  auto raw = outputs.read_raw();
  if (!raw) return raw.error();
  auto database = outputs.database().begin();
  if (!database) return database.error().in(outputs.where_raw_is());
  auto written = database->duplicate();
  if (!written) return written.error();
  if (debuginfod) loading.fetch_debug_file = [&](const std::string& id) { return debuginfod->fetch(id); };
  OutputOwner owner({database->fd(), outputs.kept_raw()});
  const ConfinedLoad how{outputs.raw_name(), options.output, outputs.folders(), debuginfod.has_value()};
  auto loaded = load_confined(how, std::move(*raw), std::move(*database), std::move(loading), status);
  if (!loaded) return loaded.error().in(outputs.where_raw_is());
  auto settled = outputs.settle_raw();
  owner.give();  // the database is whole in either case
  if (!settled) return settled.error();
  print_summary(options, outcome, *loaded, outputs.database().replaces());
  if (debuginfod) std::fprintf(stderr, "  %s\n", escape_terminal(debuginfod_text(debuginfod->figures())).c_str());
  if (outcome.reason == tracer::StopReason::kWriteFailed) return kTracingFailed;
  if (outcome.reason == tracer::StopReason::kStalled) return show_stall(std::move(*written), outputs);
  return end_as(outcome);
}

}  // namespace

Result<int> run_record(const RecordVerbOptions& options) {
  auto outputs = RecordOutputs::find(options);
  if (!outputs) return outputs.error();
  auto recorder = recorder_options(options);
  if (!recorder) return recorder.error();
  recorder->raw = outputs->raw_output();
  auto debuginfod = open_debuginfod(options.debuginfod);
  if (!debuginfod) return debuginfod.error();

  StatusLine status(stderr);
  LivePrinter printer(status);
  tracer::RecordHooks hooks;
  if (options.print) hooks.observer = &printer;
  hooks.status = [&status, last = tracer::TraceFigures{}, at = 0.0](const tracer::TraceFigures& now,
                                                                    double seconds) mutable {
    const double rate = seconds > at ? static_cast<double>(now.events - last.events) / (seconds - at) : 0;
    status.update({now.events, rate, now.lost, now.processes});
    last = now;
    at = seconds;
  };
  hooks.attached = [&options](std::uint64_t threads) { print_attached(options, threads); };
  const std::unique_ptr<StapScript> script = hook_script(options.stap, status, hooks);
  std::optional<ForkedStallCheck> stall;
  if (recorder->stall_ns != 0) hooks.stall = &stall.emplace(*outputs, recorder->stall_ns);
  std::vector<std::unique_ptr<tracer::File>> files;
  auto outcome = tracer::record(*recorder, hooks, &files);
  stall.reset();
  status.clear();
  if (!outcome) return outcome.error();
  if (outcome->exec_errno != 0) {
    std::fprintf(stderr, "uscope: %s\n", escape_terminal(outcome->trouble).c_str());
    return outcome->exec_errno == ENOENT ? kNotFound : kCannotExecute;
  }
  if (outcome->reason == tracer::StopReason::kWriteFailed)
    std::fprintf(stderr, "uscope: tracing ended early: %s\n", escape_terminal(outcome->trouble).c_str());
  return load_recording(options, *outcome, *outputs, *debuginfod, load_options(files, status), status);
}

}  // namespace uscope::cli
