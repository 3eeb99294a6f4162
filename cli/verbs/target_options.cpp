#include "cli/verbs/target_options.h"

#include <CLI/CLI.hpp>

namespace uscope::cli {

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
