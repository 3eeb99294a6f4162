// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal/text_width.h"
#include "support/nearest.h"

namespace uscope::cli {
namespace {

constexpr std::size_t kHelpWidth = 80;
constexpr std::size_t kNameWidth = 30;
constexpr std::size_t kShownOfWord = 40;  // of what the user wrote, in an error

// Two columns: a name that is too long for its own has lines for itself. Only lists of choices are longer than one.
std::string two_columns(const std::string& name, const std::string& text) {
  constexpr std::size_t kIndent = 2;
  std::string out = "  " + name;
  if (display_width(out) > kHelpWidth) {
    std::string spaced;
    for (const char c : name) spaced += c == ',' ? std::string(", ") : std::string(1, c);
    out = "  " + wrapped(spaced, kHelpWidth, kIndent);
  }
  if (text.empty()) return out + "\n";
  out += display_width(out) + 1 < kNameWidth ? std::string(kNameWidth - display_width(out), ' ')
                                             : "\n" + std::string(kNameWidth, ' ');
  return out + wrapped(text, kHelpWidth, kNameWidth) + "\n";
}

class HelpFormat final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return two_columns(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* verb) const override {
    return two_columns(verb->get_name(), verb->get_description());
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), kHelpWidth, 0) + "\n";
  }
};

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> option_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string shown(const std::string& word) {
  return shorten(word, kShownOfWord, Shrink::kMiddle);
}

// What begins with a dash and is no option of the verb.
std::optional<Error> unknown_option(const CLI::App& verb, const std::vector<std::string>& left_over) {
  const auto end = std::find(left_over.begin(), left_over.end(), "--");
  const auto option = std::find_if(left_over.begin(), end,
                                   [](const std::string& word) { return word.size() > 1 && word.front() == '-'; });
  if (option == end) return std::nullopt;
  const std::string name = option->substr(0, option->find('='));
  constexpr std::size_t kLetter = 2;  // "-x" is like every other letter
  const std::string meant = name.size() > kLetter ? did_you_mean(name, option_names(verb)) : "";
  return Error{"`" + verb.get_name() + "` has no option " + shown(name),
               meant.empty() ? "`uscope " + verb.get_name() + " --help` lists its options" : meant};
}

}  // namespace

void set_help_format(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormat>());
}

void refuse_forgotten_values(CLI::App& app) {
  for (CLI::App* verb : app.get_subcommands([](CLI::App*) { return true; })) {
    const std::vector<std::string> names = option_names(*verb);
    for (CLI::Option* option : verb->get_options()) {
      if (option->get_positional() || option->get_items_expected_min() == 0) continue;
      // Before the option's own checks, which say what a value has to be.
      option->transform(CLI::Validator(
          [names](std::string& value) -> std::string {
            if (value.empty()) return "needs a value, and an empty one is given";
            if (value == "--" || contains(names, value)) return "needs a value, and " + value + " follows";
            return "";
          },
          ""));
    }
  }
}

Error usage_error(const CLI::App& app, const CLI::ParseError& problem) {
  const std::vector<std::string> verbs_left = app.remaining();
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (chosen.empty()) {
    std::vector<std::string> names;
    for (const CLI::App* verb : verbs_of(app)) names.push_back(verb->get_name());
    const std::string list = "`uscope --help` lists the verbs";
    if (verbs_left.empty()) return {"no verb is given", list};
    const std::string meant = did_you_mean(verbs_left.front(), names);
    return {"uscope has no verb " + shown(verbs_left.front()), meant.empty() ? list : meant};
  }
  const CLI::App& verb = *chosen.front();
  const std::vector<std::string> left_over = verb.remaining();
  if (const auto error = unknown_option(verb, left_over)) return *error;
  const std::string help = "`uscope " + verb.get_name() + " --help` shows what it takes";
  if (!left_over.empty() && left_over.front() != "--")
    return {"`" + verb.get_name() + "` does not take " + shown(left_over.front()), help};
  return {problem.what(), help};
}

}  // namespace uscope::cli
