// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the declarations of options mean, on a command line of the test's own.
#include "cli/options/command_line.h"

#include <gtest/gtest.h>

#include "cli/options/help_text.h"

namespace uscope::test {
namespace {

using cli::CommandLine;
using cli::Option;
using cli::Verb;
using cli::Words;

enum class Colour { kRed, kBlue };

class CommandLineTest : public ::testing::Test {
 protected:
  void define(Verb& verb) {
    defined_++;
    verb.add_option("FILE", file_, "a file")->required();
    verb.add_option("-n,--number", number_, "a number");
    verb.add_option("--name", names_, "a name; repeated");
    verb.add_option("--all", all_, "names up to the next option")->takes_many();
    verb.add_choice("--colour", colour_, "a colour", {{"red", Colour::kRed}, {"blue", Colour::kBlue}});
    verb.add_option("--size", size_, "small or a number")->convert({"small"}, [](std::string& text) -> std::string {
      if (text == "small") text = "1";
      return text == "large" ? "'large' is no size" : "";
    });
    verb.add_words(
            "--parts", [this](const Words& parts) { parts_ = parts; }, "with commas")
        ->delimiter(',');
    Option* flag = verb.add_flag("-f,--flag", flag_, "a flag");
    verb.add_flag("--servers", servers_, "a flag with a value behind =")->excludes(flag);
    verb.runs([] { return Result<int>(3); }, 4);
  }

  // The error, or "" where the words were understood and name the verb.
  std::string parse(Words words) {
    words.insert(words.begin(), {"program", "verb"});
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());
    const auto chosen = line_.parse(static_cast<int>(pointers.size()), pointers.data());
    if (!chosen) return chosen.error().what;
    return *chosen == verb_ ? "" : "another verb";
  }

  CommandLine line_{"program", "for a test", "program 1"};
  int defined_ = 0;  // how often the options of `verb` were added
  int other_defined_ = 0;
  Verb* verb_ = line_.add_verb("verb", "the verb", [this](Verb& verb) { define(verb); });
  Verb* other_ = line_.add_verb("other", "another one", [this](Verb& other) {
    other_defined_++;
    other.runs([] { return Result<int>(5); });
  });
  std::string file_;
  std::optional<std::uint64_t> number_;
  std::vector<std::string> names_;
  std::vector<std::string> all_;
  Colour colour_ = Colour::kBlue;
  int size_ = 0;
  Words parts_;
  bool flag_ = false;
  std::string servers_;
};

TEST_F(CommandLineTest, ValuesReachTheirPlaces) {
  ASSERT_EQ(parse({"a", "-n", "7", "--colour", "red", "--size", "small", "--parts", "x,y", "--parts", "z", "-f"}), "");
  EXPECT_EQ(file_, "a");
  EXPECT_EQ(number_, 7U);
  EXPECT_EQ(colour_, Colour::kRed);
  EXPECT_EQ(size_, 1);
  EXPECT_EQ(parts_, (Words{"x", "y", "z"}));
  EXPECT_TRUE(flag_);
  EXPECT_EQ(*verb_->run(), 3);
  EXPECT_EQ(verb_->error_code(), 4);
  EXPECT_EQ(other_->error_code(), Verb::kReaderFailed);
}

TEST_F(CommandLineTest, WhatIsNotGivenStaysAsItWas) {
  ASSERT_EQ(parse({"a"}), "");
  EXPECT_EQ(number_, std::nullopt);
  EXPECT_EQ(colour_, Colour::kBlue);
  EXPECT_EQ(servers_, "");
  EXPECT_FALSE(flag_);
}

TEST_F(CommandLineTest, AListTakesOneWordEachTime) {
  ASSERT_EQ(parse({"--name", "x", "a", "--name", "y"}), "");
  EXPECT_EQ(names_, (Words{"x", "y"}));
  EXPECT_EQ(file_, "a");
}

TEST_F(CommandLineTest, AListThatTakesManyEndsAtTheNextOption) {
  ASSERT_EQ(parse({"a", "--all", "x", "y", "--name", "z"}), "");
  EXPECT_EQ(all_, (Words{"x", "y"}));
}

TEST_F(CommandLineTest, AFlagTakesItsValueOnlyBehindAnEqualSign) {
  ASSERT_EQ(parse({"--servers", "a"}), "");
  EXPECT_EQ(servers_, "true");
  EXPECT_EQ(file_, "a");
}

TEST_F(CommandLineTest, WhatCannotBeMeantIsRefused) {
  EXPECT_EQ(parse({}), "FILE is required");
  EXPECT_EQ(parse({"a", "b"}), "`verb` does not take b");
  EXPECT_EQ(parse({"a", "--colour", "green"}), "--colour: green not in {red,blue}");
  EXPECT_EQ(parse({"a", "--size", "large"}), "--size: 'large' is no size");
  EXPECT_EQ(parse({"a", "--name", "--flag"}), "--name: needs a value, and --flag follows");
  EXPECT_EQ(parse({"a", "--name"}), "--name needs TEXT");
  EXPECT_EQ(parse({"a", "--flagg"}), "`verb` has no option --flagg");
  EXPECT_EQ(parse({"a", "-f", "--servers"}), "--flag excludes --servers");
}

TEST_F(CommandLineTest, AVerbListsItsOptions) {
  ASSERT_EQ(line_.verbs().size(), 2U);
  Words names;
  for (const Option* option : verb_->named_options()) names.push_back(option->names().front());
  EXPECT_EQ(names, (Words{"--number", "--name", "--all", "--colour", "--size", "--parts", "--flag", "--servers"}));
  EXPECT_EQ(verb_->options().front()->names(), (Words{"--help", "-h"}));
  EXPECT_EQ(verb_->named_options()[3]->words(), (Words{"red", "blue"}));
  EXPECT_EQ(verb_->named_options()[4]->words(), (Words{"small"}));
  EXPECT_TRUE(verb_->named_options()[0]->takes_value());
  EXPECT_FALSE(verb_->named_options()[6]->takes_value());
  EXPECT_EQ(line_.own_options(), (Words{"--help", "-h", "--version"}));
}

TEST_F(CommandLineTest, AVerbGetsItsOptionsOnceAndWhenItIsNamed) {
  EXPECT_EQ(line_.verb_names(), (Words{"verb", "other"}));
  EXPECT_EQ(parse({"b", "c"}), "`verb` does not take c");
  EXPECT_EQ(defined_, 1);
  EXPECT_EQ(other_defined_, 0);
  (void)line_.verbs();
  EXPECT_EQ(defined_, 1);
  EXPECT_EQ(other_defined_, 1);
  EXPECT_EQ(*other_->run(), 5);
}

TEST(HelpTextTest, ALongNameHasALineForItself) {
  EXPECT_EQ(cli::help_line("--name", "what it is"), "  --name                      what it is\n");
  EXPECT_EQ(cli::help_line("--a-name-that-is-too-long-for-it", "what"),
            "  --a-name-that-is-too-long-for-it\n                              what\n");
  EXPECT_EQ(cli::help_line("--name", ""), "  --name\n");
}

}  // namespace
}  // namespace uscope::test
