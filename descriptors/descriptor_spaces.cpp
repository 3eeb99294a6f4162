// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The part of DescriptorTracker that tells files of one path in several mount namespaces apart (mount_spaces.h).
#include <fcntl.h>

#include <algorithm>

#include "descriptors/descriptor_tracker.h"

namespace uscope::descriptors {

// What was open before tracing: those of the tracer's own namespace first, whose paths have no tag.
void DescriptorTracker::note_found_files() {
  notes_found_files_ = false;
  for (const bool at_home : {true, false})
    for (const store::DescriptorFacts& fact : definitions_.descriptors)
      if (fact.file.space != 0 && spaces_.is_home(fact.file.space) == at_home && !fact.target.ends_with(" (deleted)"))
        spaces_.note(fact.process, fact.target, fact.file.space, {fact.file.dev, fact.file.ino});
}

// The tag of the path that a call is about. Of a call that opens no file: in the namespace where its process, or the
// nearest ancestor, opened the last one.
Result<void> DescriptorTracker::find_space(const usc_event& event, const DescriptorOwner& owner, const CallFacts& facts,
                                           std::span<const trace::OrderedString> strings) {
  const auto opened = std::find_if(strings.begin(), strings.end(),
                                   [](const trace::OrderedString& one) { return one.kind == USC_STRING_OPENED; });
  if (opened == strings.end() && spaces_.empty()) return {};
  const int arg = facts.object.path;
  const auto path = std::find_if(strings.begin(), strings.end(), [arg](const trace::OrderedString& one) {
    return one.arg == arg && one.string_id && (one.flags & USC_STRING_REDACTED) == 0;
  });
  if (arg < 0 || path == strings.end()) return {};
  auto text = texts_.text(path->string_id);
  if (!text) return text.error();
  Return now = at_return(Return::Kind::kOpen, event, owner);
  now.time = event.entry_ns;
  const bool has_folder = arg > 0 && facts.letters[static_cast<std::size_t>(arg) - 1] == 'D';
  const int folder = has_folder ? descriptor_arg(event, static_cast<std::size_t>(arg) - 1) : AT_FDCWD;
  auto name = absolute(text->value_or(""), owner, folder, now);
  if (!name) return name.error();
  const std::string& whole = name->empty() ? text->value_or("") : *name;
  if (opened != strings.end()) {
    if (notes_found_files_) note_found_files();
    const auto& [dev, ino, space] = opened->numbers;
    space_ = spaces_.note(owner.process, whole, static_cast<std::uint32_t>(space), {dev, ino});
    return {};
  }
  space_ = spaces_.tag_of(whole, space_of(owner.process));
  return {};
}

std::uint32_t DescriptorTracker::space_of(trace::ProcessId process) const {
  constexpr int kAncestors = 64;
  for (int i = 0; process && i < kAncestors; i++) {
    if (const std::uint32_t space = spaces_.space_of(process); space != 0) return space;
    const auto known = definitions_.processes.find(process);
    if (known == definitions_.processes.end()) return 0;
    process = definitions_.parent_of(known->second);
  }
  return 0;
}

}  // namespace uscope::descriptors
