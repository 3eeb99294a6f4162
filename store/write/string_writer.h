// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Writes which argument of a call pointed to which text, or was a descriptor of what (the table `event_string`), and
// which pointed to which data or structure (`event_content`).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "descriptors/descriptor_tracker.h"
#include "store/db/database.h"
#include "store/db/row_ids.h"
#include "store/db/string_table.h"
#include "store/model/definitions.h"
#include "store/write/object_totals.h"
#include "syscalls/call_traits.h"
#include "trace/event_order.h"

namespace uscope::store {

// event_string.source
enum class StringSource : std::uint8_t { kProgram = 0, kKernel = 1, kDescriptor = 2 };

// event_content.holds
enum class ContentHolds : std::uint8_t { kData = 0, kStructure = 1 };

class StringWriter {
 public:
  // All must outlive this object.
  StringWriter(DatabaseWriter& database, const Definitions& definitions, StringTable& strings)
      : database_(database), definitions_(definitions), strings_(strings), descriptors_(definitions, strings) {}

  Result<void> prepare();  // to be called first

  // To be called for each call, in the order of their entries: finds what it is about.
  Result<void> observe(const usc_event& event, std::span<const trace::OrderedString> strings);
  // What the arguments of the call observed last pointed to and its descriptors stood for; of an exec that succeeded,
  // the image's path and arguments. `event_id` is its row. `strings` must still be there.
  Result<void> write(EventRowId event_id);

  // Whether a call is no event, but only tells what descriptors and folders stand for.
  [[nodiscard]] static bool is_followed(const usc_event& event) {
    return (event.flags & USC_EVENT_FOLLOWED) != 0 && descriptors::DescriptorTracker::has_effect(event);
  }
  Result<void> follow(const usc_event& event, std::span<const trace::OrderedString> strings) {
    auto done = descriptors_.observe(event, strings);
    return done ? Result<void>() : done.error();
  }

  // What the arguments of an event point to, whatever its source.
  Result<void> write_texts(EventRowId event_id, std::span<const trace::OrderedString> strings);

  // The descriptors in the messages of the call observed last.
  [[nodiscard]] std::span<const descriptors::DescriptorTracker::Passed> passed() const { return descriptors_.passed(); }

  // After the last event.
  Result<void> finish();

  // What the call observed last is about.
  [[nodiscard]] const CallObject& object() const { return object_; }

 private:
  // Where the call's path and argument list stand, if it is an exec.
  struct ExecArgs {
    int path = -1;
    int argv = -1;
  };

  Result<void> insert(EventRowId event_id, int arg, StringRowId string_id, bool late, StringSource source);
  Result<void> write_contents(EventRowId event_id, const trace::OrderedString& string);
  Result<trace::OrderedString> executed_path(const usc_event& event, const ImageFacts& image, ExecArgs args);
  void find_object(const usc_event& event, std::span<const descriptors::DescriptorTracker::Named> named,
                   std::span<const trace::OrderedString> strings);
  [[nodiscard]] static bool tells_folder(const usc_event& event, const syscalls::ObjectArgs& args,
                                         std::span<const trace::OrderedString> strings);
  const ExecArgs& exec_args(const usc_event& event);
  const ImageFacts* image_of(const usc_event& event) const;

  DatabaseWriter& database_;
  const Definitions& definitions_;
  StringTable& strings_;
  descriptors::DescriptorTracker descriptors_;
  std::unique_ptr<TableRows> rows_;
  std::unique_ptr<TableRows> content_rows_;
  CallObject object_;
  // Of the call observed last.
  std::span<const trace::OrderedString> texts_;
  std::vector<trace::OrderedString> with_path_;  // which texts_ is, of an exec
  std::span<const descriptors::DescriptorTracker::Named> named_;
  const ImageFacts* image_ = nullptr;
  int argv_ = -1;
  std::vector<ExecArgs> exec_args_;                                          // by ABI and number
  std::unordered_map<trace::TaskId, std::vector<const ImageFacts*>> execs_;  // by the task that called
};

}  // namespace uscope::store
