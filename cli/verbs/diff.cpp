// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/diff.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/pages/bundles.h"
#include "cli/pages/diff_page.h"
#include "cli/pages/html_page.h"
#include "cli/render/diff_render.h"
#include "cli/session/confined_reader.h"
#include "cli/session/text_output.h"
#include "cli/terminal/pager.h"
#include "cli/verbs/shared_options.h"
#include "store/db/database.h"
#include "store/files/output_file.h"
#include "syscalls/call_set.h"

namespace uscope::cli {
namespace {

constexpr std::size_t kDiffLines = 5;
constexpr std::size_t kJsonLines = 100;
constexpr std::size_t kMostDepth = 64;

Result<analyzer::MatrixBy> parse_by(const std::string& text) {
  using Space = analyzer::MatrixBy::Space;
  if (text == "function") return analyzer::MatrixBy{};
  if (text == "path") return analyzer::MatrixBy{Space::kPath, 1};
  constexpr std::string_view kDepth = "depth:";
  std::size_t depth = 0;
  if (text.starts_with(kDepth)) {
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data() + kDepth.size(), end, depth);
    if (problem == std::errc() && stop == end && depth >= 1 && depth <= kMostDepth)
      return analyzer::MatrixBy{Space::kDepth, depth};
  }
  return Error{"--by " + text + " is not understood",
               fmt::format("use function, depth:N (N from 1 to {}), or path", kMostDepth)};
}

Result<analyzer::ModuleNames> parse_renamed(const std::vector<std::string>& list) {
  analyzer::ModuleNames names;
  for (const std::string& text : list) {
    const std::size_t equal = text.find('=');
    if (equal == std::string::npos || equal == 0 || equal + 1 == text.size())
      return Error{"--map " + text + " is not understood", "use OLD=NEW, two base names of modules"};
    const std::string from = analyzer::module_identity(text.substr(0, equal));
    if (!names.emplace(from, analyzer::module_identity(text.substr(equal + 1))).second)
      return Error{"--map renames " + from + " twice", ""};
  }
  return names;
}

}  // namespace

Result<analyzer::DiffOptions> parse_diff(const DiffVerbOptions& options) {
  analyzer::DiffOptions parsed;
  parsed.normal.assign(options.normal.begin(), options.normal.end());
  parsed.abnormal.assign(options.abnormal.begin(), options.abnormal.end());
  auto names = parse_renamed(options.renamed);
  if (!names) return names.error();
  parsed.names = std::move(*names);
  auto by = parse_by(options.by);
  if (!by) return by.error();
  parsed.by = *by;
  if (!options.per.empty()) {
    // Either call accepts a connection.
    auto calls = syscalls::parse_call_set(options.per == "accept" ? "accept,accept4" : options.per);
    if (!calls) return calls.error();
    parsed.per = std::move(*calls);
  }
  parsed.app = options.app;
  parsed.picture = options.html.has_value();
  const bool few = options.format == Format::kText && !options.html;
  parsed.lines = options.top.value_or(few ? kDiffLines : kJsonLines);
  return parsed;
}

namespace {

void define_diff(Verb& verb) {
  auto options = std::make_shared<DiffVerbOptions>();
  verb.add_option("--normal", options->normal, "traces of normal runs; three or more are tested, not only ranked")
      ->required()
      ->takes_many()
      ->type_name("FILE.db...");
  verb.add_option("--abnormal", options->abnormal, "traces of abnormal runs")
      ->required()
      ->takes_many()
      ->type_name("FILE.db...");
  verb.add_option("--by", options->by,
                  "what distinguishes calls: function (of the application), depth:N (with its callers), path (modules)")
      ->type_name("SPACE")
      ->default_str("function");
  verb.add_option("--per", options->per, "rates per successful call of these (accept, %network), not per second")
      ->type_name("SET");
  verb.add_option("--map", options->renamed, "treat a module of one run as a module of another: base names")
      ->type_name("OLD=NEW");
  take_number(verb.add_option("--top", options->top, "lines of each list, 0 = all (text: 5, json and html: 100)"), 0,
              kMostNumber)
      ->type_name("N");
  add_app_choice(verb, options->app);
  Option* format = add_format(verb, options->format);
  add_html(verb, format, options->html, options->force);
  add_color(verb);
  add_no_pager(verb);
  verb.runs([options] { return run_diff(*options); });
}

}  // namespace

void add_diff(CommandLine& line) {
  line.add_verb("diff", "show what abnormal runs do that normal runs do not: calls by their callers", define_diff);
}

namespace {

// The stores are opened here only to tell that none of them is the output.
Result<void> write_diff_page(const DiffVerbOptions& options, const analyzer::DiffOptions& parsed) {
  const auto bundle = bundle_of(Page::kDiff);
  if (!bundle) return bundle.error();
  auto place = store::OutputPlace::find(*options.html, store::OutputKind::kPage, options.force);
  if (!place) return place.error();
  std::vector<store::Database> databases;
  for (const auto* files : {&parsed.normal, &parsed.abnormal}) {
    for (const auto& file : *files) {
      auto database = store::Database::open(file);
      if (!database) return database.error();
      databases.push_back(std::move(*database));
    }
  }
  std::vector<const store::Database*> inputs;
  inputs.reserve(databases.size());
  for (const store::Database& database : databases) inputs.push_back(&database);
  return write_text_output(*place, inputs, [&](std::FILE* stream) -> Result<void> {
    auto found = analyzer::diff(parsed);
    if (!found) return found.error();
    Output out(stream);
    out.write(html_page(*bundle, "uscope diff " + options.abnormal.front(), diff_page(*found)));
    return out.finish();
  });
}

}  // namespace

Result<int> run_diff(const DiffVerbOptions& options) {
  auto parsed = parse_diff(options);
  if (!parsed) return parsed.error();
  if (options.html) {
    if (auto done = write_diff_page(options, *parsed); !done) return done.error();
    return 0;
  }
  const Pager pager;
  if (auto confined = confine_reader(); !confined) return confined.error();
  auto found = analyzer::diff(*parsed);
  if (!found) return found.error();
  Output out(stdout);
  out.write(options.format == Format::kText ? diff_text(*found, text_width(stdout)) : diff_json(*found));
  if (auto done = out.finish(); !done) return done.error();
  return 0;
}

}  // namespace uscope::cli
