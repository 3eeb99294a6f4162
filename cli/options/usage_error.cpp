// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/options/usage_error.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "cli/terminal/text_width.h"
#include "support/nearest.h"

namespace uscope::cli {
namespace {

// A word of the command line, short enough for a message.
std::string shown(const std::string& word) {
  constexpr std::size_t kShown = 40;
  return shorten(word, kShown, Shrink::kMiddle);
}

Error unknown_verb(const CommandLine& line, const Words& left_over) {
  const std::string list = "`uscope --help` lists the verbs";
  if (left_over.empty()) return {"no verb is given", list};
  if (left_over.front().starts_with('-')) {
    const std::string meant = did_you_mean(left_over.front(), line.own_options());
    return {"`uscope` has no option " + shown(left_over.front()),
            meant.empty() ? "`uscope --help` lists its options; those of a verb come behind the verb" : meant};
  }
  const std::string meant = did_you_mean(left_over.front(), line.verb_names());
  return {"uscope has no verb " + shown(left_over.front()), meant.empty() ? list : meant};
}

// The error for the first word that begins with a dash and is no option of the verb.
std::optional<Error> unknown_option(const Verb& verb, const Words& left_over) {
  const auto end = std::find(left_over.begin(), left_over.end(), "--");
  const auto option = std::find_if(left_over.begin(), end,
                                   [](const std::string& word) { return word.size() > 1 && word.front() == '-'; });
  if (option == end) return std::nullopt;
  const std::string name = option->substr(0, option->find('='));
  Words names;
  for (const auto& known : verb.options())
    for (std::string& one : known->names()) names.push_back(std::move(one));
  constexpr std::size_t kLetter = 2;  // "-x" is like every other letter
  const std::string meant = name.size() > kLetter ? did_you_mean(name, names) : "";
  return Error{"`" + verb.name() + "` has no option " + shown(name),
               meant.empty() ? "`uscope " + verb.name() + " --help` lists its options" : meant};
}

// The parser's "--output: 1 required FILE.db missing".
std::string plain(const std::string& problem) {
  constexpr std::string_view kRequired = ": 1 required ";
  constexpr std::string_view kMissing = " missing";
  const std::size_t at = problem.find(kRequired);
  if (at == std::string::npos || !problem.ends_with(kMissing)) return problem;
  const std::size_t value = at + kRequired.size();
  return problem.substr(0, at) + " needs " + problem.substr(value, problem.size() - kMissing.size() - value);
}

}  // namespace

Error usage_error(const CommandLine& line, const Refusal& refusal) {
  if (!refusal.verb) return unknown_verb(line, refusal.left_over);
  const Verb& verb = *refusal.verb;
  if (const auto error = unknown_option(verb, refusal.left_over)) return *error;
  const std::string help = "`uscope " + verb.name() + " --help` shows what it takes";
  if (!refusal.left_over.empty() && refusal.left_over.front() != "--")
    return {"`" + verb.name() + "` does not take " + shown(refusal.left_over.front()), help};
  return {plain(refusal.problem), help};
}

}  // namespace uscope::cli
