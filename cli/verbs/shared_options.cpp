// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/shared_options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "analyzer/read/app_modules.h"

namespace uscope::cli {

void add_format(CLI::App& verb, Format& format) {
  static const std::map<std::string, Format> kFormats{{"text", Format::kText}, {"json", Format::kJson}};
  verb.add_option_function<std::string>(
          "--format", [&format](const std::string& name) { format = kFormats.at(name); }, "how to print the result")
      ->check(CLI::IsMember({"text", "json"}))
      ->default_str("text");
}

void add_app_module(CLI::App& verb, std::vector<std::string>& globs) {
  verb.add_option("--app-module", globs, "modules that also count as the application, as if recorded so")
      ->type_name("GLOB")
      ->allow_extra_args(false);
}

Result<void> count_app_modules(const store::Database& database, const std::vector<std::string>& globs) {
  if (globs.empty()) return {};
  auto matched = analyzer::count_as_app(database, globs);
  if (!matched) return matched.error();
  if (*matched == 0) return analyzer::no_such_module(globs, database.path().string());
  return {};
}

void add_debuginfod(CLI::App& verb, DebuginfodChoice& choice) {
  // A flag, so that a value is given by `=` only and the next word is never taken for one.
  CLI::Option* servers =
      verb.add_flag("--debuginfod", choice.servers,
                    "ask debuginfod servers for debug files that are not on this machine: those of DEBUGINFOD_URLS, or "
                    "--debuginfod='URL URL'");
  verb.add_option("--debuginfod-timeout", choice.timeout, "how long to wait for one debug file")
      ->type_name("T")
      ->needs(servers)
      ->capture_default_str();
}

void add_running_target(CLI::App& verb, RecordVerbOptions& options) {
  verb.add_option("--app", options.apps,
                  "trace this application, running or started later: its executable's or script's name")
      ->type_name("NAME")
      ->allow_extra_args(false);
  verb.add_option("--pid", options.pids, "trace this process, and what it starts")
      ->type_name("PID")
      ->check(CLI::PositiveNumber)
      ->allow_extra_args(false);
  verb.add_option("--cgroup", options.cgroups, "trace the members of this control group and of those below it")
      ->type_name("PATH")
      ->allow_extra_args(false);
  verb.add_option("--follow", options.follow,
                  "tree: all that a traced process starts; image: only while it is that program")
      ->check(CLI::IsMember({"tree", "image"}))
      ->capture_default_str();
}

void add_target(CLI::App& verb, RecordVerbOptions& options) {
  add_running_target(verb, options);
  verb.add_option("COMMAND", options.command, "the command to trace, after --");
  verb.positionals_at_end();
}

}  // namespace uscope::cli
