// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/options/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <sstream>

#include "cli/options/help_text.h"
#include "cli/options/usage_error.h"

namespace uscope::cli {
namespace {

class HelpFormat final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return help_line(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
  }
  // An option that excludes many others says so; they do not each say it, too.
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = CLI::Formatter::make_option_opts(option);
    const auto& others = option->get_excludes();
    const bool is_said_there =
        !others.empty() && std::all_of(others.begin(), others.end(), [&](const CLI::Option* one) {
          return one->get_excludes().size() > others.size();
        });
    return is_said_there ? text.substr(0, text.find(" Excludes:")) : text;
  }
  std::string make_subcommand(const CLI::App* verb) const override {
    return help_line(verb->get_name(), verb->get_description());
  }
  std::string make_description(const CLI::App* app) const override { return help_heading(app->get_description()); }
};

Words names_of(const CLI::Option& option) {
  Words names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

Words option_names(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options())
    for (std::string& name : names_of(*option)) names.push_back(std::move(name));
  return names;
}

void refuse_forgotten_values(CLI::App& verb) {
  const Words names = option_names(verb);
  for (CLI::Option* option : verb.get_options()) {
    if (option->get_positional() || option->get_items_expected_min() == 0) continue;
    // Before the option's own checks, which say what a value has to be.
    option->transform(CLI::Validator(
        [names](std::string& value) -> std::string {
          if (value.empty()) return "needs a value, and an empty one is given";
          if (value == "--" || std::find(names.begin(), names.end(), value) != names.end())
            return "needs a value, and " + value + " follows";
          return "";
        },
        ""));
  }
}

std::string in_braces(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return "{" + text + "}";
}

// Also `--tree.images`, which newer versions of CLI11 take for `tree --images`.
bool may_name(const std::string& word, const std::string& verb) {
  return word == verb || (word.starts_with('-') && word.find(verb + '.') != std::string::npos);
}

// `help VERB` and `version` are `VERB --help` and `--version`.
Result<Words> spelled_out(const CommandLine& line, Words words) {
  if (words.empty()) return words;
  if (words.front() == "version" && words.size() == 1) return Words{"--version"};
  if (words.front() != "help") return words;
  if (words.size() == 1) return Words{"--help"};
  const Words names = line.verb_names();
  if (std::find(names.begin(), names.end(), words[1]) == names.end())
    return usage_error(line, {"", nullptr, {words[1]}});
  return Words{words[1], "--help"};
}

}  // namespace

Option* Option::required() {
  parser_->required();
  return this;
}

Option* Option::takes_many() {
  parser_->allow_extra_args();
  return this;
}

Option* Option::delimiter(char delimiter) {
  parser_->delimiter(delimiter);
  return this;
}

Option* Option::check(Check check) {
  parser_->check(std::move(check));
  return this;
}

Option* Option::one_of(Words words) {
  words_ = words;
  parser_->check(CLI::IsMember(std::move(words)));
  return this;
}

Option* Option::convert(Words words, Conversion conversion) {
  parser_->transform(CLI::Validator(std::move(conversion), in_braces(words)));
  words_ = std::move(words);
  return this;
}

Option* Option::suggests(std::string list, Words words) {
  suggestion_list_ = std::move(list);
  suggestions_ = std::move(words);
  return this;
}

Option* Option::needs(Option* other) {
  parser_->needs(other->parser_);
  return this;
}

Option* Option::excludes(Option* other) {
  parser_->excludes(other->parser_);
  return this;
}

Option* Option::type_name(const std::string& name) {
  if (!may_stand_alone()) parser_->type_name(name);  // the help would have a space where only = will do
  type_name_ = name;
  return this;
}

Option* Option::default_str(const std::string& text) {
  parser_->default_str(text);
  return this;
}

Option* Option::capture_default_str() {
  parser_->capture_default_str();
  return this;
}

Words Option::names() const {
  return names_of(*parser_);
}

bool Option::takes_value() const {
  return parser_->get_items_expected_max() != 0;
}

bool Option::may_stand_alone() const {
  return parser_->get_items_expected_min() == 0;
}

std::string Option::value_name() const {
  if (parser_->get_positional()) return parser_->get_name(true);
  if (!type_name_.empty() || may_stand_alone()) return type_name_;
  std::string text;
  for (const std::string& word : words_) text += (text.empty() ? "" : "|") + word;
  return text.empty() ? parser_->get_type_name() : text;
}

std::string Option::description() const {
  return parser_->get_description();
}

std::string Option::default_value() const {
  return parser_->get_default_str();
}

bool Option::is_required() const {
  return parser_->get_required();
}

Verb::Verb(CLI::App* parser, Definition definition) : parser_(parser), definition_(std::move(definition)) {
  keep(parser_->get_help_ptr());
}

void Verb::define() {
  const Definition definition = std::exchange(definition_, nullptr);
  if (!definition) return;
  definition(*this);
  refuse_forgotten_values(*parser_);
}

Option* Verb::keep(CLI::Option* option) {
  options_.push_back(std::make_unique<Option>(option));
  return options_.back().get();
}

Option* Verb::add(const std::string& names, Place value, const std::string& help) {
  CLI::Option* option = std::visit([&](auto* place) { return parser_->add_option(names, *place, help); }, value);
  if (!option->get_positional()) option->allow_extra_args(false);
  return keep(option);
}

Option* Verb::add_word(const std::string& names, const std::function<void(const std::string&)>& take,
                       const std::string& help) {
  return keep(parser_->add_option_function<std::string>(names, take, help));
}

Option* Verb::add_words(const std::string& names, const std::function<void(const Words&)>& take,
                        const std::string& help) {
  return keep(parser_->add_option_function<Words>(names, take, help)->allow_extra_args(false));
}

Option* Verb::add_flag(const std::string& names, bool& value, const std::string& help) {
  return keep(parser_->add_flag(names, value, help));
}

Option* Verb::add_flag(const std::string& names, std::string& value, const std::string& help) {
  return keep(parser_->add_flag(names, value, help));
}

Option* Verb::add_flag(const std::string& names, std::function<void()> given, const std::string& help) {
  return keep(parser_->add_flag_callback(names, std::move(given), help));
}

void Verb::positionals_at_end() {
  parser_->positionals_at_end();
}

void Verb::runs(std::function<Result<int>()> action, int error_code) {
  action_ = std::move(action);
  error_code_ = error_code;
}

std::string Verb::name() const {
  return parser_->get_name();
}

std::string Verb::description() const {
  return parser_->get_description();
}

std::vector<Option*> Verb::named_options() const {
  std::vector<Option*> named;
  for (std::size_t i = 1; i < options_.size(); i++)
    if (!options_[i]->names().empty()) named.push_back(options_[i].get());
  return named;
}

CommandLine::CommandLine(const std::string& program, const std::string& description, const std::string& version)
    : parser_(std::make_unique<CLI::App>(description, program)) {
  parser_->set_version_flag("--version", version);
  parser_->require_subcommand(1);
  parser_->formatter(std::make_shared<HelpFormat>());  // verbs inherit it
}

CommandLine::~CommandLine() = default;

Verb* CommandLine::add_verb(const std::string& name, const std::string& description, Verb::Definition definition) {
  verbs_.push_back(std::make_unique<Verb>(parser_->add_subcommand(name, description), std::move(definition)));
  return verbs_.back().get();
}

const std::vector<std::unique_ptr<Verb>>& CommandLine::verbs() const {
  for (const auto& verb : verbs_) verb->define();
  return verbs_;
}

Words CommandLine::verb_names() const {
  Words names;
  names.reserve(verbs_.size());
  for (const auto& verb : verbs_) names.push_back(verb->name());
  return names;
}

// Those verbs that the parser could take one of these words for, and perhaps more.
void CommandLine::define_named(const Words& words) {
  for (const auto& verb : verbs_)
    if (std::any_of(words.begin(), words.end(),
                    [name = verb->name()](const std::string& word) { return may_name(word, name); }))
      verb->define();
}

Words CommandLine::own_options() const {
  return option_names(*parser_);
}

Result<const Verb*> CommandLine::parse(int argc, const char* const* argv) {
  auto words = spelled_out(*this, Words(argv + std::min(argc, 1), argv + argc));
  if (!words) return words.error();
  define_named(*words);
  const auto chosen = [this]() -> const Verb* {
    const std::vector<CLI::App*> named = parser_->get_subcommands();
    if (named.empty()) return nullptr;
    const auto verb = std::find_if(verbs_.begin(), verbs_.end(),
                                   [&](const auto& one) { return one->name() == named.front()->get_name(); });
    return verb == verbs_.end() ? nullptr : verb->get();
  };
  try {
    std::reverse(words->begin(), words->end());  // the parser takes them from the end
    parser_->parse(std::move(*words));
  } catch (const CLI::Success& request) {
    std::ostringstream text;  // the help or the version
    (void)parser_->exit(request, text, text);
    std::fputs(text.str().c_str(), stdout);
    return nullptr;
  } catch (const CLI::ParseError& problem) {
    const Verb* verb = chosen();
    const Words left_over = verb ? parser_->get_subcommands().front()->remaining() : parser_->remaining();
    return usage_error(*this, {problem.what(), verb, left_over});
  }
  return chosen();
}

}  // namespace uscope::cli
