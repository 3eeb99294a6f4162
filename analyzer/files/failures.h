// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What calls failed at, the most telling first: a name that was never found comes before those that a search along
// folders found in the end, before objects that the process used all the same, and before errors of normal work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/read/row_ids.h"
#include "analyzer/read/top_list.h"

namespace uscope::analyzer {

struct FailedObject {
  std::optional<std::string> name;
  std::uint64_t events = 0;
};

// Failures of one call with one error at one object, or at objects of one base name in several folders.
struct FailedLine {
  std::string call;
  std::int64_t number = 0;  // of the error
  std::string error;        // "ENOENT"
  std::optional<std::string> name;
  std::uint64_t events = 0;
  std::vector<FailedObject> objects;  // most events first
};

struct FailureList {
  TopList<FailedLine> lines;
  TopList<FailedLine> searched;  // the same process found a file of that base name in another folder, later
  std::uint64_t searched_events = 0;
  std::uint64_t left_out = 0;  // calls that failed at other objects, beyond Failures::kMost
};

class Failures {
 public:
  // So many are compared: by process, call, error and name.
  static constexpr std::size_t kMost = 65'536;

  // Calls of one process that failed alike.
  struct Failed {
    std::optional<ProcessRowId> process;
    std::string call;
    std::int64_t number = 0;
    std::optional<std::string> name;
    std::uint64_t events = 0;
    std::int64_t last_event = 0;
    bool by_application = false;    // a function of the application asked
    bool program_failed = false;    // the process ended with another code than 0, or by a signal
    bool named_to_program = false;  // the base name is in the program's arguments
  };

  void add(Failed failed);
  // Calls that did not fail; only those that come after all that failed count.
  void add_success(const std::optional<ProcessRowId>& process, const std::optional<std::string>& name,
                   std::int64_t last_event);
  [[nodiscard]] FailureList finish(std::size_t lines) const;

 private:
  using Found = std::map<std::string, std::int64_t>;  // the last call at each path with one base name

  [[nodiscard]] const Found* found_for(const Failed& failed) const;

  std::vector<Failed> failed_;
  std::uint64_t left_out_ = 0;
  std::unordered_map<std::int64_t, std::unordered_map<std::string, Found>> found_;  // by process and base name
};

// The last component of a path; anything else whole.
[[nodiscard]] std::string last_component(const std::string& name);

}  // namespace uscope::analyzer
