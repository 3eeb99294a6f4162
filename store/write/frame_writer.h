// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Writes modules, frames and stacks to a store, with their names.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "store/db/database.h"
#include "store/db/row_ids.h"
#include "store/model/definitions.h"
#include "symbolizer/names/frame_namer.h"
#include "trace/own_libraries.h"
#include "trace/trigger.h"
#include "uscope/scope.h"

namespace uscope::store {

class FrameWriter {
 public:
  // All three must outlive this object.
  // `app_runtime`: triggers are those of --app-runtime.
  FrameWriter(DatabaseWriter& database, const Definitions& definitions, symbolizer::FrameNamer& namer,
              bool app_runtime = false);

  // Writes everything; stack row ids are the numbers of definitions.stacks, those of definitions.logged_stacks behind
  // them. `progress` gets 0 … 1.
  Result<void> run(const std::function<void(double)>& progress);

  // Rows of stacks.
  [[nodiscard]] static StackRowId row_of(StackNumber user) { return StackRowId(user.value()); }
  [[nodiscard]] StackRowId row_of(LoggedStackNumber logged) const {
    return StackRowId(static_cast<std::uint32_t>(definitions_.stacks.size()) + logged.value());
  }
  // The trigger of a stack, if it has one; to be asked after run().
  [[nodiscard]] FrameRowId trigger(StackRowId stack) const { return triggers_[stack.value() - 1]; }
  // That with --app-runtime, if it is another one.
  [[nodiscard]] FrameRowId runtime_trigger(StackRowId stack) const {
    const auto found = runtime_triggers_.find(stack);
    return found == runtime_triggers_.end() ? FrameRowId() : found->second;
  }
  // How the stack ended, as it is stored: enum usc_ended.
  [[nodiscard]] std::uint8_t ended(StackNumber stack) const {
    return scoped_.contains(stack) ? std::uint8_t{USC_ENDED_SCOPE} : definitions_.stacks.stack(stack).ended;
  }
  // The row of a signal's handler (usc_signal), if the trace told of it in time; to be asked after run().
  [[nodiscard]] FrameRowId handler(std::uint64_t frame, trace::MmId mm) const;
  // How many files that stacks have frames in no longer hold what was mapped.
  [[nodiscard]] std::uint64_t changed_files() const { return changed_files_; }
  // Files whose debug information could not be read, and why (FrameNamer::debug_trouble); of the first thousand.
  struct DebugTrouble {
    std::string path;
    std::string why;
  };
  [[nodiscard]] const std::vector<DebugTrouble>& debug_troubles() const { return debug_troubles_; }

 private:
  struct Module {
    trace::FileId file;
    std::string path;
    trace::MmId mm;               // of memory without a file
    trace::TriggerFrame facts{};  // of each of its frames, but for their functions
    bool library = false;         // its class is
    bool machine = false;         // it runs code of a managed language
    bool mixed = false;           // USC_CLASS_MIXED
    FrameRowId cut{};             // the row that stands for a trigger that was cut, once it is written
  };
  struct Function {
    std::string name;  // as it is in folded stacks
    trace::FunctionOrigin origin = trace::FunctionOrigin::kOwn;
    trace::FunctionRole role = trace::FunctionRole::kNone;
  };
  // Where a trigger may be: a row of a frame, which is that of an inlined call or of the function itself.
  struct Place {
    FrameRowId row;
    ModuleRowId module;
  };
  // Frame rows of one physical frame, innermost inlined call first.
  struct Physical {
    ModuleRowId module;
    FrameRowId first_row;
    std::uint32_t rows = 0;
  };
  struct RawFrame {
    std::uint64_t frame = 0;
    trace::MmId mm;  // if the frame has no file
    bool operator==(const RawFrame&) const = default;
  };
  struct RawFrameHash {
    std::size_t operator()(const RawFrame& raw) const {
      return static_cast<std::size_t>((raw.frame ^ std::uint64_t{raw.mm.value()} << 48) * 0x9e3779b97f4a7c15ULL >> 16);
    }
  };

  [[nodiscard]] const Physical*& physical_of(FrameNumber number, trace::MmId mm);
  [[nodiscard]] const JitName* jit_name(trace::MmId mm, std::uint64_t pc, bool exact) const;
  Result<ModuleRowId> module_of(const RawFrame& raw);
  Result<void> make_app(ModuleRowId module);
  void find_managed();
  void find_machines();
  Result<void> find_programs();
  Result<void> find_main_libraries();
  Result<void> make_program(ModuleRowId module);
  [[nodiscard]] trace::TriggerFrame physical_frame(FrameNumber number, trace::MmId mm);
  static symbolizer::ModuleRequest request_for(trace::FileId serial, const std::string& path, const FileFacts& file);
  Result<void> gather();
  Result<const Physical*> place_of(std::uint64_t frame, trace::MmId mm);
  Result<void> name_all(const std::function<void(double)>& progress);
  void note_debug_trouble(ModuleRowId module);
  Result<void> write_frame(ModuleRowId module, std::uint64_t rel_pc, bool exact);
  const std::vector<Physical>& frames_of(StackNumber number);  // valid until the next call
  Result<void> write_stack(StackNumber number);
  Result<void> write_user_frames(StackRowId row, std::uint32_t first, const std::vector<Physical>& frames);
  Result<void> write_logged_stack(LoggedStackNumber number);
  Result<FrameRowId> kernel_frame(trace::PlaceId place);
  Result<ModuleRowId> kernel_module(const std::string& name);
  [[nodiscard]] trace::TriggerFrame trigger_frame(const Place& place) const;
  [[nodiscard]] bool is_managed(StackNumber number);
  Result<std::pair<FrameRowId, bool>> find_trigger(const std::vector<Physical>& frames,
                                                   const trace::TriggerStack& stack);
  [[nodiscard]] bool is_own(const Physical& frame, const trace::TriggerStack& stack) const;
  bool keep_own(FrameRowId trigger, const trace::TriggerStack& stack);
  Result<FrameRowId> cut_frame(ModuleRowId module);
  const std::string& folded(const std::vector<Physical>& frames);  // valid until the next call

  DatabaseWriter& database_;
  const Definitions& definitions_;
  symbolizer::FrameNamer& namer_;
  bool app_runtime_;
  std::uint32_t mode_ = USC_MODE_ALL_ALL;  // of the recording, enum usc_mode
  std::unique_ptr<TableRows> module_rows_;
  std::unique_ptr<TableRows> frame_rows_;
  std::unique_ptr<TableRows> frame_lock_rows_;
  std::unique_ptr<TableRows> stack_rows_;
  std::unique_ptr<TableRows> stack_frame_rows_;
  trace::OwnLibraries own_libraries_;
  std::vector<Module> modules_;                                                          // by row id - 1
  std::map<std::tuple<trace::FileId, trace::MmId, bool>, ModuleRowId> module_ids_;       // by file, mm, named
  std::map<std::tuple<std::string, std::string, bool>, ModuleRowId> module_identities_;  // by path, build-id, changed
  std::uint64_t changed_files_ = 0;
  std::vector<DebugTrouble> debug_troubles_;
  std::map<std::tuple<ModuleRowId, std::uint64_t, bool>, Physical> physical_;  // by module, address, exact
  std::vector<const Physical*> by_number_;                                     // of frames with a file, by number - 1
  std::unordered_map<RawFrame, const Physical*, RawFrameHash> anonymous_;      // of frames without one
  std::set<trace::MmId> managed_;           // address spaces with code of a managed language
  std::vector<Function> functions_;         // by frame row id - 1
  std::vector<Physical> frames_;            // of write_stack(), kept for their memory
  std::vector<Place> places_;               // the same
  std::string text_;                        // the same
  std::vector<FrameRowId> triggers_;        // by stack row id - 1
  std::unordered_set<StackNumber> scoped_;  // of which the application's innermost frame alone is kept
  std::unordered_map<StackRowId, FrameRowId> runtime_triggers_;  // of stacks that have another one with --app-runtime
  std::map<std::pair<std::uint64_t, trace::MmId>, const Physical*> handler_places_;  // of signals, until they are named
  std::map<std::pair<std::uint64_t, trace::MmId>, FrameRowId> handlers_;
  std::map<std::string, ModuleRowId> kernel_modules_;  // by the kernel's name
  std::map<trace::PlaceId, FrameRowId> kernel_frames_;
  std::map<std::string, FrameRowId> kernel_frame_places_;  // by what a place says
};

}  // namespace uscope::store
