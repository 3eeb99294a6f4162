// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the records of a trace define, kept as the records themselves: tasks, images, files, stacks, kinds. A trace of a
// part of the time (an interval, a window) gets what its events can refer to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "live/window/guises.h"
#include "live/window/kept_record.h"
#include "live/window/window_trace.h"
#include "support/result.h"
#include "trace/ids.h"
#include "uscope/record.h"

namespace uscope::live {

class KeptDefinitions {
 public:
  // Returns whether the record defines something, which is then kept.
  bool take(const usc_record& record);

  [[nodiscard]] bool knows(trace::TaskId task) const { return tasks_.count(task) != 0; }
  [[nodiscard]] bool knows(trace::StackId stack) const { return stacks_.count(stack) != 0; }

  Result<void> write(WindowTrace& to) const;
  // Writes all but stacks, of which these.
  Result<void> write(WindowTrace& to, const std::set<trace::StackId>& stacks) const;

  // Tasks that have not ended before this time, those that made them, and so on; with `also`.
  [[nodiscard]] std::unordered_set<trace::TaskId> living(std::uint64_t before_ns,
                                                         const std::unordered_set<trace::TaskId>& also = {}) const;
  [[nodiscard]] trace::ProcessId process_of(trace::TaskId task) const;
  // An image's serial, of the one that an event has: that may be a guise's.
  [[nodiscard]] trace::ImageId image_of(trace::ImageId serial) const { return guises_.image_of(serial); }
  // The task with the name and user that it had when its events had this serial in the place of their image's; nullopt
  // if its beginning is not known.
  [[nodiscard]] std::optional<usc_task> task_as(trace::TaskId task, trace::ImageId serial) const;
  // When each process had its descriptors copied to another one; `shared` is the time of those that share them.
  [[nodiscard]] std::multimap<trace::ProcessId, std::uint64_t> descriptor_copies(std::uint64_t shared) const;

  // Forgets tasks that ended before this time but for those that are `needed`, with the images, address spaces and
  // processes that were theirs alone, and images that were replaced before it, if none are needed. Guises are kept that
  // are in use. Stacks stay: the kernel side tells of each once.
  void forget_ended(std::uint64_t before_ns, const std::set<trace::ImageId>& guises_in_use = {},
                    const std::unordered_set<trace::TaskId>& needed = {});
  // Forgets the guises that threads had before this time, but for those that are in use, that a task began with, and
  // the last kFormerNames of each.
  void forget_guises(std::uint64_t before_ns, std::set<trace::ImageId> in_use);
  [[nodiscard]] const Guises& guises() const { return guises_; }
  std::unordered_map<trace::ImageId, trace::ImageId> merge_guises() { return guises_.merge_beyond_shares(); }
  // Names and users that were beyond a bound since this was asked the last time.
  std::uint64_t take_names_beyond() { return std::exchange(names_beyond_, 0); }
  // Forgets stacks with smaller numbers than this, but not these.
  void forget_stacks(trace::StackId first, const std::unordered_set<trace::StackId>& in_use);

  [[nodiscard]] std::size_t tasks() const { return tasks_.size(); }
  [[nodiscard]] std::size_t images() const { return images_.size(); }
  [[nodiscard]] std::size_t stacks() const { return stacks_.size(); }
  [[nodiscard]] std::size_t jit_names() const { return jit_names_.size(); }

 private:
  using Changes = std::map<std::uint64_t, KeptRecord>;  // by the time since which a task has had each
  struct Task {
    KeptRecord start;
    Changes names;
    Changes users;
    KeptRecord end;
    trace::ProcessId process;
    trace::ImageId inherited;
    trace::MmId mm;
    trace::TaskId maker;
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;  // 0: it lives
    bool shares = false;       // its maker's descriptors
  };
  struct Image {
    KeptRecord exec;
    trace::ProcessId process;
    std::uint64_t time = 0;
    trace::MmId mm;
  };
  struct File {
    KeptRecord announced;
    KeptRecord described;
  };

  void take_jit_name(const usc_jit_name& name);
  void take_change(Changes& changes, const usc_record& record);

  std::map<std::string, KeptRecord> meta_;
  std::uint64_t names_beyond_ = 0;
  std::map<trace::TaskId, Task> tasks_;
  Guises guises_;
  std::map<trace::ImageId, Image> images_;
  std::map<trace::FileId, File> files_;
  std::map<std::uint64_t, KeptRecord> cgroups_;  // by number
  std::map<std::pair<trace::MmId, std::uint64_t>, KeptRecord> jit_names_;
  std::unordered_map<trace::StackId, KeptRecord> stacks_;
  std::map<std::pair<std::uint8_t, std::uint32_t>, KeptRecord> kinds_;
  std::map<std::pair<std::uint8_t, std::uint32_t>, KeptRecord> result_types_;  // what is told of a kind the second time
  std::map<trace::PlaceId, KeptRecord> places_;
};

}  // namespace uscope::live
