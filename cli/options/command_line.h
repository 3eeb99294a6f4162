// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The command line: verbs, the options of each, and what runs when a verb is named. CLI11 parses it, but a file that
// includes CLI11 takes seven seconds to compile: command_line.cpp is the only one, and verbs include this header.
//
//   line.add_verb("tree", "show the process tree", [](Verb& verb) {
//     auto options = std::make_shared<TreeOptions>();
//     verb.add_option("FILE.db", options->file, "a trace")->required();
//     verb.add_flag("--images", options->images, "print a line for each program");
//     verb.runs([options] { return run_tree(*options); });
//   });
//
// What an option writes to must live as long as the verb's action, which therefore holds it. Most of the time in which
// `uscope` starts went to the options of verbs that nobody had named: a verb gets its options when it is named, or when
// somebody asks for all verbs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "support/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace uscope::cli {

// Returns what is wrong with a value, or "".
using Check = std::function<std::string(const std::string& text)>;
// The same; puts in place of the text what it stands for.
using Conversion = std::function<std::string(std::string& text)>;
using Words = std::vector<std::string>;

// Each function returns the option itself, so that calls can follow one another.
class Option {
 public:
  explicit Option(CLI::Option* parser) : parser_(parser) {}

  Option* required();
  // Takes all words up to the next option. Without it, an option with a list takes one each time that it is given.
  Option* takes_many();
  // Parts of one word, with `delimiter` between them, are several values.
  Option* delimiter(char delimiter);

  Option* check(Check check);
  // Takes these words only.
  Option* one_of(Words words);
  // What the value stands for is found by `conversion`; help and completion show `words`.
  Option* convert(Words words, Conversion conversion);

  // Cannot be given without, or together with, another one.
  Option* needs(Option* other);
  Option* excludes(Option* other);

  // Completion offers these words, of a list with this name, though others are taken too. Several may stand in one
  // word, with commas between them.
  Option* suggests(std::string list, Words words);

  // What the help shows for the value, and as its default.
  Option* type_name(const std::string& name);
  Option* default_str(const std::string& text);
  Option* capture_default_str();  // what the option writes to, as it is now

  [[nodiscard]] Words names() const;  // "--output", "-o"; none for a positional
  [[nodiscard]] bool takes_value() const;
  [[nodiscard]] bool may_stand_alone() const;    // takes a value only behind `=`, or none
  [[nodiscard]] std::string value_name() const;  // "FILE.db": of its value, or of a positional; else its words
  [[nodiscard]] std::string description() const;
  [[nodiscard]] std::string default_value() const;  // as the help shows it; "" if there is none
  [[nodiscard]] bool is_required() const;
  [[nodiscard]] const Words& words() const { return words_; }  // of one_of() or convert(), else empty
  [[nodiscard]] const std::string& suggestion_list() const { return suggestion_list_; }  // its name; empty: none
  [[nodiscard]] const Words& suggestions() const { return suggestions_; }

 private:
  CLI::Option* parser_;
  Words words_;
  std::string suggestion_list_;
  Words suggestions_;
  std::string type_name_;  // as it was given
};

class Verb {
 public:
  using Definition = std::function<void(Verb&)>;

  // `definition` adds the options and says what the verb does.
  Verb(CLI::App* parser, Definition definition);
  // Before it, the verb has a name and a description only. Calls after the first do nothing.
  void define();

  // `names` are "-o,--output"; one without dashes is a positional. The help shows its type unless type_name() says
  // something else.
  template <typename T>
  Option* add_option(const std::string& names, T& value, const std::string& help) {
    return add(names, Place(&value), help);
  }
  // Words of which each stands for a value. The help shows them, and as default the one that stands for `value` now.
  template <typename T>
  Option* add_choice(const std::string& names, T& value, const std::string& help,
                     std::vector<std::pair<std::string, std::type_identity_t<T>>> choices) {
    Words words;
    std::string now;
    for (const auto& [word, meaning] : choices) {
      words.push_back(word);
      if (meaning == value) now = word;
    }
    const auto take = [&value, choices = std::move(choices)](const std::string& chosen) {
      for (const auto& [word, meaning] : choices)
        if (word == chosen) value = meaning;
    };
    return add_word(names, take, help)->one_of(std::move(words))->default_str(now);
  }
  // `take` gets what was given: one word, or all in their order.
  Option* add_word(const std::string& names, const std::function<void(const std::string&)>& take,
                   const std::string& help);
  Option* add_words(const std::string& names, const std::function<void(const Words&)>& take, const std::string& help);

  Option* add_flag(const std::string& names, bool& value, const std::string& help);
  // Takes a value only behind `=`; `value` is "true" without one.
  Option* add_flag(const std::string& names, std::string& value, const std::string& help);
  Option* add_flag(const std::string& names, std::function<void()> given, const std::string& help);

  // What follows `--` is a positional, whatever it looks like.
  void positionals_at_end();

  // What to do if the command line names this verb, and the exit code if it returns an Error. Nothing is opened before
  // the whole line has been parsed.
  void runs(std::function<Result<int>()> action, int error_code = kReaderFailed);
  [[nodiscard]] Result<int> run() const { return action_(); }
  [[nodiscard]] int error_code() const { return error_code_; }

  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::string description() const;
  // All that have names, but --help, in the order in which they were added.
  [[nodiscard]] std::vector<Option*> named_options() const;
  // In the order in which they were added, --help first.
  [[nodiscard]] const std::vector<std::unique_ptr<Option>>& options() const { return options_; }

  static constexpr int kReaderFailed = 2;

 private:
  using Place =
      std::variant<int*, unsigned*, std::uint64_t*, std::string*, std::filesystem::path*, std::optional<std::int64_t>*,
                   std::optional<std::uint64_t>*, std::optional<std::string>*, std::optional<std::filesystem::path>*,
                   std::vector<std::uint32_t>*, std::vector<std::int64_t>*, std::vector<std::string>*>;
  Option* add(const std::string& names, Place value, const std::string& help);
  Option* keep(CLI::Option* option);

  CLI::App* parser_;
  Definition definition_;  // empty once it was called
  std::vector<std::unique_ptr<Option>> options_;
  std::function<Result<int>()> action_;
  int error_code_ = kReaderFailed;
};

class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& description, const std::string& version);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  Verb* add_verb(const std::string& name, const std::string& description, Verb::Definition definition);

  // Returns the verb that the words name, with its values set; nullptr if --help or --version was asked for and has
  // been printed. Every option refuses a value that is empty, `--`, or the name of another of the verb's options: the
  // value was forgotten.
  [[nodiscard]] Result<const Verb*> parse(int argc, const char* const* argv);

  // With all their options.
  [[nodiscard]] const std::vector<std::unique_ptr<Verb>>& verbs() const;
  [[nodiscard]] Words verb_names() const;
  // Of the command itself: --help, --version.
  [[nodiscard]] Words own_options() const;

 private:
  void define_named(const Words& words);

  std::unique_ptr<CLI::App> parser_;
  std::vector<std::unique_ptr<Verb>> verbs_;
};

}  // namespace uscope::cli
