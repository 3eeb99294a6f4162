// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs the uscope command as a user does.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/unit/analyzer/sample_trace.h"

namespace uscope::test {

struct Finished {
  int code = -1;  // exit code; 128 + signal where one ended it
  std::string out;
  std::string err;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// In `folder`, with no terminal anywhere, in UTC.
inline Finished run_command(const std::filesystem::path& folder, const std::vector<std::string>& words) {
  const auto out = folder / ".stdout";
  const auto err = folder / ".stderr";
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  setenv("TZ", "UTC0", 1);
  // No fork: it would copy the page tables of AddressSanitizer's memory each time.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kAnew = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), kAnew, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), kAnew, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = -1;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return {-1, "", words[0] + " could not be started"};
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out), read_file(err)};
}

// A sample trace in a folder of its own, named sample.db there, and the command to read it with.
class CommandTest : public SampleTrace {
 protected:
  Finished uscope(std::vector<std::string> words) {
    words.insert(words.begin(), paths::kUscope);
    return run_command(folder_ / ".", words);
  }

  // What a successful run prints. On stderr there may be the line of readers that the trace lacks events.
  std::string output(const std::vector<std::string>& words) {
    const Finished run = uscope(words);
    EXPECT_EQ(run.code, 0) << run.err;
    const bool is_note = run.err.starts_with("uscope: THIS TRACE IS NOT COMPLETE");
    EXPECT_EQ(is_note ? run.err.substr(run.err.find('\n') + 1) : run.err, "");
    return run.out;
  }

  // Whether the text is as tests/golden/<name> says. USCOPE_UPDATE_GOLDEN=1 writes the files anew (and fails).
  static void expect_golden(const std::string& text, const std::string& name) {
    const auto path = std::filesystem::path(paths::kSourceFolder) / "tests" / "golden" / name;
    if (std::getenv("USCOPE_UPDATE_GOLDEN")) {
      std::ofstream(path, std::ios::binary) << text;
      FAIL() << path << " was written anew: look at the difference";
    }
    EXPECT_EQ(text, read_file(path)) << "differs from " << path;
  }

  // Whether JSON holds to docs/json/<name>.schema.json, by python3-jsonschema.
  void expect_schema(const std::string& json, const std::string& name) {
    std::ofstream(folder_ / "value.json", std::ios::binary) << json;
    const auto schema = std::filesystem::path(paths::kSourceFolder) / "docs" / "json" / (name + ".schema.json");
    const std::string program =
        "import json, sys, jsonschema\n"
        "schema = json.load(open(sys.argv[1]))\n"
        "jsonschema.Draft202012Validator.check_schema(schema)\n"
        "jsonschema.Draft202012Validator(schema).validate(json.load(open(sys.argv[2], encoding='utf-8')))\n";
    const Finished run = run_command(folder_ / ".", {"python3", "-c", program, schema.string(), "value.json"});
    EXPECT_EQ(run.code, 0) << run.err;
  }

  // Nothing of a hostile name may reach an output as it is.
  static void expect_harmless(const std::string& text, bool json) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\xff'), std::string::npos);
    EXPECT_EQ(text.find("red\n"), std::string::npos);
    EXPECT_TRUE(!json || text.find("</script>") == std::string::npos);
  }
};

}  // namespace uscope::test
