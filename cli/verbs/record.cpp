// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/record.h"

#include <limits>
#include <memory>
#include <string>

#include "cli/session/recording.h"
#include "cli/verbs/shared_options.h"
#include "syscalls/signal_names.h"
#include "trace/names.h"

namespace uscope::cli {
namespace {

Words mode_names() {
  Words names;
  for (std::uint32_t mode = 1; mode <= trace::kModes; mode++) names.emplace_back(trace::mode_name(mode));
  return names;
}

// A mode by its number or name becomes its number.
std::string to_mode_number(std::string& text) {
  for (std::uint32_t mode = 1; mode <= trace::kModes; mode++) {
    if (text != trace::mode_name(mode) && text != std::to_string(mode)) continue;
    text = std::to_string(mode);
    return "";
  }
  return "'" + text + "' is not a mode: 1 app-last, 2 app-all, 3 all-last, 4 all-all";
}

void define_record(Verb& verb) {
  auto options = std::make_shared<RecordVerbOptions>();
  verb.add_option("-o,--output", options->output, "the database to write")->type_name("FILE.db")->capture_default_str();
  verb.add_option("--mode", options->mode, "frames to keep: 1 app-last, 2 app-all, 3 all-last, 4 all-all")
      ->convert(mode_names(), to_mode_number)
      ->type_name("M")
      ->default_str("all-all");
  take_number(verb.add_option("-S,--frames", options->budget, "frames kept of each stack, at most"), 1, USC_MAX_FRAMES)
      ->type_name("N")
      ->capture_default_str();
  add_calls(verb, options->calls,
            "calls to record: names, %file %network ..., all, none; ! excludes; signal: as --signals");
  Option* paths = verb.add_option("--path", options->paths,
                                  "keep only calls on files, sockets and other objects with such a name or address")
                      ->type_name("GLOB");
  verb.add_option(
          "-t,--target", options->targets,
          "also record these events: sample:HZ, offcpu, tracepoint:SYSTEM:NAME, usdt:BINARY:PROVIDER:NAME, "
          "ufunction:BINARY:FUNCTION, kfunction:FUNCTION; names may be patterns, see `uscope list`; %return behind a "
          "function: with duration and result")
      ->type_name("TARGET")
      ->suggests("targets", target_words());
  verb.add_flag("--all-matches", options->all_matches, "attach as many probes as -t names, however many these are");
  verb.add_flag(
      "--force-probe", options->force_probe,
      "probe the one place that a -t names even if it is refused, at the risk of all programs that use the file");
  verb.add_option("--backend", options->backend, "what traces in the kernel: bpf, kmod (the module), or what works")
      ->one_of({"auto", "bpf", "kmod"})
      ->capture_default_str();
  verb.add_option("-u,--user", options->user, "run the command as this user")->type_name("USER");
  verb.add_flag("--preserve-env", options->keep_environment, "with -u: keep the environment");
  verb.add_option("--env", options->environment,
                  "keep the values of these environment variables, too: of the others but PATH only names are kept")
      ->type_name("GLOB");
  verb.add_option("--app-module", options->app_modules,
                  "modules that also count as the application (a server's plug-ins)")
      ->type_name("GLOB");
  verb.add_option("--exclude-module", options->excluded_modules, "modules whose frames are skipped")->type_name("GLOB");
  verb.add_flag("--no-strings", options->no_strings,
                "read no paths, names and addresses that calls are given, and keep no argument lists");
  verb.add_option("--redact", options->redact, "put [redacted] in place of strings that match, before they are written")
      ->type_name("GLOB");
  take_number(verb.add_option("--string-bytes", options->string_bytes, "bytes kept of each string, at most"), 1,
              USC_STRING_MOST)
      ->type_name("N")
      ->capture_default_str();
  take_number(verb.add_option("--argument-bytes", options->argument_bytes,
                              "bytes kept of each program's argument list, at most"),
              USC_ARGV_LEAST, USC_ARGV_MOST)
      ->type_name("N")
      ->capture_default_str();
  take_number(
      verb.add_option("--data", options->data_bytes,
                      "keep the first N bytes of what reads and writes carry, and the structures that calls are given"),
      1, USC_DATA_MOST)
      ->type_name("N");
  verb.add_flag("--signals", options->signals, "also record signals: who sends them to whom, and their delivery");
  verb.add_flag("--print", options->print, "print each call when it ends, as `events` does")->excludes(paths);
  verb.add_flag("-q,--quiet", options->quiet, "print neither status nor summary; errors are printed");
  verb.add_option("--duration", options->duration, "stop tracing after this time: 30s, 5m")->type_name("T");
  verb.add_option("--max-size", options->max_size, "stop tracing when the raw trace is this large: 500M, 2G")
      ->type_name("B");
  verb.add_option("--until-stall", options->until_stall,
                  "stop when threads have waited for each other this long, and print which: 10s")
      ->type_name("T");
  verb.add_option("--keep-raw", options->keep_raw, "keep the raw trace, for `uscope load`")->type_name("FILE");
  verb.add_flag("--force", options->force, "also replace a file that is not a trace of uscope's");
  take_number(verb.add_option("--verify", options->verify_every,
                              "compare every Nth stack with libdwfl's walk of the same stack copy"),
              1, std::numeric_limits<unsigned>::max())
      ->type_name("N");
  verb.add_option("--stap", options->stap,
                  "load a SystemTap script beside the kernel module: FILE.stp, or the FILE.ko of uscope-stap -p4")
      ->type_name("FILE");
  add_debuginfod(verb, options->debuginfod);
  add_color(verb);
  verb.add_flag("--all", options->all, "trace all processes of the machine; best with --path or -e");
  add_target(verb, *options);
  verb.runs(
      [options] {
        options->signals = options->signals || syscalls::asks_for_signals(options->calls);
        return run_record(*options);
      },
      kTracingFailed);
}

}  // namespace

void add_record(CommandLine& line) {
  line.add_verb("record", "trace a command or running applications, and write a database", define_record);
}

}  // namespace uscope::cli
