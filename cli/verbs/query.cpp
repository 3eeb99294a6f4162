// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/query.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "analyzer/read/completeness.h"
#include "cli/render/units.h"
#include "cli/session/confined_reader.h"
#include "cli/session/live_query.h"
#include "cli/session/question_probes.h"
#include "cli/session/ready_questions.h"
#include "cli/terminal/output.h"
#include "cli/terminal/pager.h"
#include "cli/terminal/paint.h"
#include "cli/verbs/shared_options.h"
#include "query/plan/empty_answer.h"
#include "query/plan/plan.h"
#include "query/sql/lexer.h"
#include "store/db/database.h"
#include "store/db/reading_only.h"
#include "support/nearest.h"
#include "support/text.h"
#include "syscalls/signal_names.h"

namespace uscope::cli {
namespace {

constexpr std::int64_t kLeastInterval = 100'000'000;

// What is asked, and of what: a file, a command, or what the options name.
struct Asked {
  std::string question;
  std::string file;
  Words command;
};

// A question begins with a word of SQL, or with @; anything else before it is a file.
bool is_question(std::string_view word) {
  if (word.starts_with('@')) return true;
  const std::size_t begin = word.find_first_not_of(" \t\r\n(");
  if (begin == std::string_view::npos) return false;
  if (word.substr(begin, 2) == "--" || word.substr(begin, 2) == "/*") return true;  // a comment
  for (const std::string_view first : {"select", "with", "values", "explain"}) {
    const std::string_view there = word.substr(begin, first.size());
    const bool same = there.size() == first.size() &&
                      std::equal(there.begin(), there.end(), first.begin(),
                                 [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
    const std::size_t end = begin + first.size();
    if (same && end < word.size() && std::isspace(static_cast<unsigned char>(word[end])) != 0) return true;
  }
  return false;
}

constexpr const char* kTry =
    "try: uscope query --app nginx \"SELECT kind, count(*) FROM v_event GROUP BY kind\"; --list shows ready questions";

Result<Asked> asked_by(const QueryOptions& options) {
  Asked asked;
  if (options.first.empty()) return Error{"no question was given", kTry};
  Words words{options.first};
  words.insert(words.end(), options.rest.begin(), options.rest.end());
  if (!is_question(words.front())) {
    asked.file = words.front();
    words.erase(words.begin());
    if (words.empty()) return Error{"no question was given: " + asked.file + " is taken for a file", kTry};
  }
  asked.question = words.front();
  asked.command.assign(words.begin() + 1, words.end());
  const RecordVerbOptions& record = options.record;
  const bool names = !record.apps.empty() || !record.pids.empty() || !record.cgroups.empty() || record.all;
  const int targets = int{!asked.file.empty()} + int{!asked.command.empty()} + int{names};
  if (targets > 1)
    return Error{"more than one thing to ask: a file, a command, or what --app, --pid, --cgroup or --all name",
                 "put the question into quotes, so that it is one word"};
  if (targets == 0 && !options.explain)
    return Error{"nothing to ask",
                 "give FILE.db before the question, --app, --pid, --cgroup or --all, or -- COMMAND behind it"};
  return asked;
}

// What a stored trace cannot be asked differently by.
Result<void> refuse_live_options(const QueryOptions& options, const std::string& file) {
  const QueryOptions plain;
  const RecordVerbOptions& record = options.record;
  const std::pair<const char*, bool> given[] = {{"-o", !options.output.empty()},
                                                {"--every", options.every != plain.every},
                                                {"--for", !record.duration.empty()},
                                                {"-e", record.calls != plain.record.calls},
                                                {"-t", !record.targets.empty()},
                                                {"--all-matches", record.all_matches},
                                                {"--force-probe", record.force_probe},
                                                {"--backend", record.backend != plain.record.backend},
                                                {"--follow", record.follow != plain.record.follow}};
  for (const auto& [option, is_given] : given)
    if (is_given)
      return Error{fmt::format("{} is for what runs, and {} is a trace", option, file),
                   "leave it out, or ask what runs: --app, --pid, --cgroup, --all, -- COMMAND"};
  return {};
}

// "@latency" …
Words question_names() {
  Words names;
  for (const ReadyQuestion& ready : ready_questions()) names.push_back("@" + std::string(ready.name));
  return names;
}

// The text of a question; a name becomes the text of that ready question.
Result<std::string> text_of(const std::string& question) {
  if (!question.starts_with('@')) return question;
  const std::string name = question.substr(1);
  for (const ReadyQuestion& ready : ready_questions())
    if (ready.name == name) return std::string(ready.sql);
  const std::string meant = did_you_mean("@" + name, question_names());
  return Error{"no ready question is called @" + name, meant.empty() ? "`uscope query --list` shows them" : meant};
}

void print_list() {
  std::size_t widest = 0;
  for (const ReadyQuestion& ready : ready_questions()) widest = std::max(widest, ready.name.size());
  for (const ReadyQuestion& ready : ready_questions())
    std::printf("@%-*s  %s\n", static_cast<int>(widest), std::string(ready.name).c_str(),
                std::string(ready.about).c_str());
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void print_plan(const query::Plan& plan) {
  const auto section = [](const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    std::printf("%s\n", title);
    for (const std::string& text : lines)
      for (const std::string_view line : lines_of(text)) std::printf("  %s\n", printable(line).c_str());
  };
  if (plan.way == query::Way::kSums)
    std::printf("summed at each event; SQLite finishes it\n");
  else
    std::printf("asked event by event%s%s\n", plan.reason.empty() ? "" : ": ", printable(plan.reason).c_str());
  section("at each event:", plan.pushed);
  section("decided before:", plan.planned);
  section("by SQLite:", plan.left);
  std::printf("taken with each event: %s%s%s\n", plan.needs.stack ? "its stack" : "no stack",
              plan.needs.time ? ", its times" : "", plan.needs.objects ? ", its object" : "");
  if (plan.way == query::Way::kSums)
    std::printf("memory for the sums: %s for each CPU\n", human_bytes(query::memory_of_sums(plan.program)).c_str());
  const auto has_any = [](const auto& calls) {
    return std::any_of(calls.begin(), calls.end(), [](std::uint64_t word) { return word != 0; });
  };
  if (usc_query_is_of_beginnings(&plan.program) != 0 &&
      (has_any(plan.calls[USC_CALLS_NATIVE]) || has_any(plan.calls[USC_CALLS_COMPAT])))
    std::printf("asked when a call begins: nothing of its end matters\n");
}

// Whether the rows of one interval can follow those of another: events, as they come.
bool is_listing(const query::Plan& plan) {
  if (plan.way != query::Way::kEvents || !plan.reason.empty()) return false;
  const auto tokens = query::tokens_of(plan.text);
  return std::none_of(tokens.begin(), tokens.end(), [](const query::Token& token) {
    return token.kind == query::TokenKind::kName &&
           (token.word == "order" || token.word == "limit" || token.word == "distinct");
  });
}

// On stderr, why no event fulfils WHERE; nothing if some do.
Result<void> explain_emptiness(const store::Database& database, const std::string& file, const std::string& text) {
  const auto reasons = query::why_no_event(database.handle(), text);
  if (!reasons) return reasons.error();
  for (const std::string& reason : *reasons)
    std::fprintf(stderr, "uscope: %s: %s\n", printable(file).c_str(), printable(reason).c_str());
  return {};
}

Result<int> ask_file(const std::string& file, const query::Plan& plan, AnswerStyle style,
                     const analyzer::AppChoice& app) {
  const Pager pager;
  auto database = open_and_warn(file);
  if (!database) return database.error();
  if (auto done = query::add_functions(database->handle()); !done) return done.error();
  AnswerHead head;
  const auto missing = analyzer::read_completeness(*database);
  if (!missing) return missing.error();
  head.lost = style.format == AnswerFormat::kJson ? missing->lost : 0;  // told above the others already
  auto facts = database->prepare(
      "SELECT max(iif(key = 'start_ns', value + 0, NULL)), max(iif(key = 'duration_ns', value + 0, NULL)), "
      "max(iif(key = 'utc_offset_ns', value + 0, NULL)), (SELECT count(*) FROM event) FROM meta");
  if (!facts) return facts.error();
  const auto row = facts->step();
  if (!row) return row.error();
  head.from_ns = facts->integer(0);
  head.until_ns = head.from_ns + facts->integer(1);
  head.utc_offset_ns = facts->integer(2);
  head.events = static_cast<std::uint64_t>(facts->integer(3));
  style.paint = paint_for(stdout);
  Output out(stdout);
  AnswerPrinter printer(style, [&out](std::string_view text) { out.write(text); });
  if (auto done = choose_app(*database, app); !done) return done.error();
  store::allow_reading_only(database->handle());
  auto answer = database->prepare(plan.text);
  if (!answer) return answer.error();
  std::size_t rows = 0;
  const auto count = [&rows](const store::Statement& /*row*/) -> Result<void> {
    rows++;
    return {};
  };
  if (auto done = printer.print(head, *answer, count); !done) return done.error();
  if (auto done = out.finish(); !done && !out.has_no_reader()) return done.error();
  if (rows <= 1)  // of sums without groups, one row stands for no event
    if (auto done = explain_emptiness(*database, file, plan.text); !done) return done.error();
  return 0;
}

void define_query(Verb& verb) {
  auto options = std::make_shared<QueryOptions>();
  options->record.takes_command = true;
  verb.add_option("QUESTION", options->first, "one SELECT over v_event, or @NAME; before it FILE.db, to ask that trace")
      ->suggests("questions", question_names());
  verb.add_option("COMMAND", options->rest, "the command to ask, after --");
  add_running_target(verb, options->record);
  verb.add_flag("--all", options->record.all, "ask all processes of the machine");
  Option* every = verb.add_option("--every", options->every, "how often to answer: 1s, 500ms")
                      ->type_name("T")
                      ->capture_default_str();
  verb.add_flag("--once", options->once, "one answer, at the end")->excludes(every);
  verb.add_option("--for", options->record.duration, "end after this time: 30s, 5m")->type_name("T");
  Option* output = verb.add_option("-o,--output", options->output, "also keep the answers in a table of this database")
                       ->type_name("FILE.db");
  verb.add_flag("--force", options->force, "also replace a file that is not a trace of uscope's")->needs(output);
  verb.add_choice("--format", options->format, "how to print answers; json: one line for each",
                  {{"table", AnswerFormat::kTable}, {"csv", AnswerFormat::kCsv}, {"json", AnswerFormat::kJson}});
  add_calls(verb, options->record.calls,
            "calls to ask: names, %file %network ..., all; ! excludes; signal: signals too");
  verb.add_option("-t,--target", options->record.targets,
                  "trace these events too, whatever WHERE says: targets as of `record -t`")
      ->type_name("TARGET")
      ->suggests("targets", target_words());
  verb.add_flag("--all-matches", options->record.all_matches,
                "attach as many probes as -t and WHERE name, however many these are");
  verb.add_flag(
      "--force-probe", options->record.force_probe,
      "probe the one place that a -t names even if it is refused, at the risk of all programs that use the file");
  verb.add_option("--backend", options->record.backend,
                  "what traces in the kernel: bpf, kmod (the module), or what works")
      ->one_of({"auto", "bpf", "kmod"})
      ->capture_default_str();
  verb.add_option("--app-module", options->record.app_modules,
                  "modules that also count as the application (a server's plug-ins)")
      ->type_name("GLOB");
  add_app_runtime(verb, options->app_runtime);
  add_color(verb);
  add_no_pager(verb);
  verb.add_flag("--list", options->list, "print the ready questions, each to be asked as @NAME");
  verb.add_flag("--explain", options->explain,
                "print what is done at each event and what SQLite does, and ask nothing");
  verb.runs([options] {
    options->record.signals = syscalls::asks_for_signals(options->record.calls);
    return run_query(*options);
  });
}

}  // namespace

void add_query(CommandLine& line) {
  line.add_verb("query", "query running applications, or a recording, in SQL", define_query);
}

Result<int> run_query(const QueryOptions& options) {
  if (options.list) {
    print_list();
    return 0;
  }
  const auto asked = asked_by(options);
  if (!asked) return asked.error();
  const auto text = text_of(asked->question);
  if (!text) return text.error();
  const auto traced = sources_of_targets(options.record.targets);
  if (!traced) return traced.error();
  const auto plan = query::plan(*text, *traced);
  if (!plan) return plan.error();
  if (options.explain) {
    print_plan(*plan);
    return 0;
  }
  AnswerStyle style{options.format};
  style.listing = is_listing(*plan);
  style.one = options.once || !asked->file.empty();
  if (!asked->file.empty()) {
    if (auto fits = refuse_live_options(options, asked->file); !fits) return fits.error();
    return ask_file(asked->file, *plan, style, {options.record.app_modules, options.app_runtime});
  }
  if (!options.record.signals)
    for (const std::string& reason : query::impossible_conditions(*plan))
      std::fprintf(stderr, "uscope: %s\n", printable(reason).c_str());
  const auto every = parse_duration(options.every);
  if (!every) return every.error();
  if (*every < kLeastInterval) return Error{"--every is too short: " + options.every, "give at least 100ms"};
  LiveQueryOptions live{options.record, options.once ? 0 : *every, style, options.output,
                        options.force,  options.app_runtime};
  live.record.command = asked->command;
  return run_live_query(live, *plan);
}

}  // namespace uscope::cli
