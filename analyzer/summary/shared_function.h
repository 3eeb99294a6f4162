// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The function in which a thread stayed between two calls, as far as their stacks tell.
//
// From the root on, both stacks are the same functions, called from the same places: the thread has not returned from
// these. The last one that they share may have gone on from one place to another. What is inside it returned, or
// began, in between. (If both calls come from the same place, it may also have returned and been called anew: the
// stacks do not tell.)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/read/row_ids.h"
#include "analyzer/read/trigger_modules.h"
#include "store/db/database.h"
#include "store/db/statement.h"
#include "support/result.h"

namespace uscope::analyzer {

struct SharedFunction {
  std::string function;
  std::string module;
  bool fallback = false;  // no frame of the application is shared; this is the innermost other function
};

class SharedFunctions {
 public:
  [[nodiscard]] static Result<SharedFunctions> create(const store::Database& database);

  // The innermost function of the application that both stacks share; or else the innermost one, chosen as a trigger
  // is. nullopt: they share none, or do not both reach the root, so that it is not known which frames correspond.
  Result<std::optional<SharedFunction>> innermost(StackRowId before, StackRowId after);

 private:
  struct Frame {
    FrameRowId id;  // there is one row for each function at an address
    std::string function;
    ModuleRowId module;
    std::string origin;
    bool calls_inlined = false;  // the next frame is inlined in this one
    std::string place;           // file and line; empty: not known
  };
  struct Stack {
    bool whole = false;
    bool managed = false;
    std::vector<Frame> frames;  // of user space, outermost first, inlined calls included
  };

  SharedFunctions(TriggerModules modules, std::unordered_map<ModuleRowId, std::string> paths, store::Statement ended,
                  store::Statement frames)
      : modules_(std::move(modules)), paths_(std::move(paths)), ended_(std::move(ended)), frames_(std::move(frames)) {}

  Result<const Stack*> stack(StackRowId id);
  static bool same_call(const Frame& a, const Frame& b);
  [[nodiscard]] std::optional<SharedFunction> innermost_of(const Stack& before, const Stack& after) const;

  TriggerModules modules_;
  std::unordered_map<ModuleRowId, std::string> paths_;
  store::Statement ended_;
  store::Statement frames_;
  std::unordered_map<StackRowId, Stack> stacks_;  // those of few gaps
  std::map<std::pair<StackRowId, StackRowId>, std::optional<SharedFunction>> known_;
};

}  // namespace uscope::analyzer
