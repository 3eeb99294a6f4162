// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/shared_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/read/app_modules.h"
#include "analyzer/read/process_filter.h"
#include "cli/terminal/terminal_choice.h"
#include "cli/terminal/text_width.h"
#include "support/text.h"
#include "syscalls/syscall_table.h"

namespace uscope::cli {

Option* add_format(Verb& verb, Format& format) {
  return verb.add_choice("--format", format, "how to print the result",
                         {{"text", Format::kText}, {"json", Format::kJson}});
}

void add_color(Verb& verb) {
  verb.add_choice("--color", terminal_choice().colours,
                  "when to colour: auto is on a terminal, unless NO_COLOR is set or TERM is dumb",
                  {{"auto", ColoursWhen::kAuto}, {"always", ColoursWhen::kAlways}, {"never", ColoursWhen::kNever}});
}

void add_no_pager(Verb& verb) {
  verb.add_flag("--no-pager", terminal_choice().no_pager,
                "print on a terminal at once, not by the pager: USCOPE_PAGER, PAGER, or less");
}

Option* take_number(Option* option, std::uint64_t least, std::uint64_t most) {
  return option->check([least, most](const std::string& text) -> std::string {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, number);
    if (problem == std::errc() && stop == end && number >= least && number <= most) return "";
    constexpr std::size_t kShown = 40;
    return fmt::format("'{}' is not a whole number from {} to {}", shorten(text, kShown, Shrink::kMiddle), least, most);
  });
}

namespace {

Words call_words() {
  Words words{"all", "none", "signal", "sample", "offcpu"};
  for (const std::string_view name : syscalls::syscall_class_names()) words.push_back("%" + std::string(name));
  for (std::uint32_t nr = 0; nr < syscalls::kSyscallNumbers; nr++)
    if (std::string name = syscalls::syscall_name(USC_ABI_NATIVE, nr); !name.starts_with("syscall_"))
      words.push_back(std::move(name));
  return words;
}

}  // namespace

Words target_words() {
  return {"sample:99", "offcpu", "tracepoint:", "usdt:", "ufunction:", "kfunction:"};
}

void add_calls(Verb& verb, std::string& calls, const std::string& description) {
  verb.add_words(
          "-e,--calls",
          [&calls](const Words& sets) {
            calls.clear();
            for (const std::string& set : sets) calls += (calls.empty() ? "" : ",") + set;
          },
          description)
      ->type_name("SET")
      ->default_str(calls)
      ->suggests("calls", call_words());
}

void add_globs(Verb& verb, const std::string& name, std::vector<std::string>& globs, const std::string& help) {
  verb.add_words(
          name,
          [&globs](const Words& given) {
            globs.clear();
            for (const std::string& glob : given) {
              globs.push_back(glob);
              if (const std::string text = trace_text(glob); text != glob) globs.push_back(text);
            }
          },
          help)
      ->type_name("GLOB");
}

bool warn_of_unknown_processes(const std::vector<std::string>& globs, const analyzer::Catalog& catalog) {
  if (globs.empty()) return false;
  const std::vector<std::string> names = analyzer::names_instead_of(globs, catalog);
  if (names.empty()) return false;
  constexpr std::size_t kShown = 20;
  std::string text = fmt::format("uscope: no process goes by the name {}\nhint: those of this recording are ",
                                 printable_in_quotes(to_utf8(globs.front())));
  for (std::size_t i = 0; i < std::min(kShown, names.size()); i++)
    text += (i == 0 ? "" : ", ") + printable(to_utf8(names[i]));
  if (names.size() > kShown) text += fmt::format(" and {} more", group_digits(names.size() - kShown));
  std::fputs((text + "\n").c_str(), stderr);
  return true;
}

void add_html(Verb& verb, Option* format, std::optional<std::filesystem::path>& html, bool& force) {
  Option* page =
      verb.add_option("--html", html, "write a page for browsers to this file: self-contained, with pictures")
          ->type_name("FILE")
          ->excludes(format);
  verb.add_flag("--force", force, "also replace a file that exists")->needs(page);
}

void add_app_choice(Verb& verb, analyzer::AppChoice& choice) {
  verb.add_option("--app-module", choice.modules, "also treat these modules as application code")->type_name("GLOB");
  add_app_runtime(verb, choice.runtime);
}

void add_app_runtime(Verb& verb, bool& runtime) {
  verb.add_flag(
      "--app-runtime", runtime,
      "functions of run-time systems and packages in the application's files count as the application's, too");
}

Result<void> choose_app(const store::Database& database, const analyzer::AppChoice& choice) {
  if (!choice.is_any()) return {};
  auto matched = analyzer::count_as_app(database, choice);
  if (!matched) return matched.error();
  if (*matched == 0 && !choice.modules.empty())
    return analyzer::no_such_module(choice.modules, database.path().string());
  return {};
}

void add_debuginfod(Verb& verb, DebuginfodChoice& choice) {
  // A flag, so that a value is given by `=` only and the next word is never taken for one.
  Option* servers =
      verb.add_flag("--debuginfod", choice.servers,
                    "ask debuginfod servers for debug files that are not on this machine: those of its value, which "
                    "stands behind =, or those of DEBUGINFOD_URLS")
          ->type_name("URLS");
  verb.add_option("--debuginfod-timeout", choice.timeout, "how long to wait for one debug file")
      ->type_name("T")
      ->needs(servers)
      ->capture_default_str();
}

void add_running_target(Verb& verb, RecordVerbOptions& options) {
  verb.add_option("--app", options.apps,
                  "trace this application, running or started later: a name that ps or pgrep shows, or its script's")
      ->type_name("NAME");
  take_number(verb.add_option("-p,--pid", options.pids, "trace this process, and what it starts"), 1, kMostPid)
      ->type_name("PID");
  verb.add_option("--cgroup", options.cgroups, "trace the members of this control group and of those below it")
      ->type_name("PATH");
  verb.add_option("--follow", options.follow,
                  "tree: all that a traced process starts; image: only while it is that program")
      ->one_of({"tree", "image"})
      ->capture_default_str();
}

void add_target(Verb& verb, RecordVerbOptions& options) {
  add_running_target(verb, options);
  verb.add_option("COMMAND", options.command, "the command to trace, after --");
  verb.positionals_at_end();
}

}  // namespace uscope::cli
