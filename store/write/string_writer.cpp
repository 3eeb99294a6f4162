// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/write/string_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include "descriptors/descriptor_calls.h"
#include "store/write/call_object.h"
#include "support/redactor.h"
#include "syscalls/syscall_table.h"
#include "trace/string_kind.h"

namespace uscope::store {
namespace {

constexpr std::size_t kAbis = USC_ABI_COUNT;

bool has_whole_path(std::span<const trace::OrderedString> strings, int arg) {
  return std::any_of(strings.begin(), strings.end(), [arg](const trace::OrderedString& one) {
    return one.arg == arg && one.string_id && (one.flags & USC_STRING_TRUNCATED) == 0;
  });
}

}  // namespace

Result<void> StringWriter::prepare() {
  // Of a damaged trace one argument may have two texts: the first counts.
  auto rows = database_.rows("event_string", 5, OnConflict::kIgnore);
  if (!rows) return rows.error();
  rows_ = std::move(*rows);
  auto content_rows = database_.rows("event_content", 7, OnConflict::kIgnore);
  if (!content_rows) return content_rows.error();
  content_rows_ = std::move(*content_rows);
  exec_args_.resize(kAbis * syscalls::kSyscallNumbers);
  if (const auto taken = definitions_.meta.find("strings"); taken != definitions_.meta.end() && taken->second == "0")
    return {};  // none are wanted, not even an exec's
  for (const auto& [serial, image] : definitions_.images)
    if (image.task) execs_[image.task].push_back(&image);
  for (auto& [task, images] : execs_)
    std::stable_sort(images.begin(), images.end(),
                     [](const ImageFacts* a, const ImageFacts* b) { return a->time < b->time; });
  for (std::size_t abi = 0; abi < kAbis; abi++) {
    for (std::uint32_t nr = 0; nr < syscalls::kSyscallNumbers; nr++) {
      const std::string_view letters = syscalls::syscall_arguments(static_cast<usc_abi>(abi), nr).value_or("");
      const std::size_t path = letters.find('x');
      if (path == std::string_view::npos) continue;
      exec_args_[abi * syscalls::kSyscallNumbers + nr] = {static_cast<int>(path), static_cast<int>(path + 1)};
    }
  }
  return {};
}

Result<void> StringWriter::insert(EventRowId event_id, int arg, StringRowId string_id, bool late, StringSource source) {
  return rows_->add(event_id, arg, string_id, late, static_cast<int>(source));
}

Result<void> StringWriter::write_contents(EventRowId event_id, const trace::OrderedString& string) {
  const trace::StringHolds holds = trace::string_holds(string.kind);
  const bool late = (string.flags & USC_STRING_LATE) != 0;
  const bool cut = (string.flags & USC_STRING_TRUNCATED) != 0;
  const auto source = trace::is_from_kernel(string.kind) ? StringSource::kKernel : StringSource::kProgram;
  const auto insert = [&](ContentHolds part, ContentRowId id) {
    return content_rows_->add(event_id, string.arg, static_cast<int>(part), static_cast<int>(source), maybe_id(id),
                              late, cut);
  };
  if (holds != trace::StringHolds::DATA)
    if (auto done = insert(ContentHolds::kStructure, string.structure_id); !done) return done;
  if (holds == trace::StringHolds::STRUCTURE) return {};
  return insert(ContentHolds::kData, string.data_id);
}

Result<void> StringWriter::write_texts(EventRowId event_id, std::span<const trace::OrderedString> strings) {
  for (const trace::OrderedString& string : strings) {
    if (trace::is_content(string.kind))
      if (auto done = write_contents(event_id, string); !done) return done;
    if (!string.string_id || trace::string_holds(string.kind) == trace::StringHolds::DESCRIPTOR) continue;
    const auto source = trace::is_from_kernel(string.kind) ? StringSource::kKernel : StringSource::kProgram;
    if (auto done = insert(event_id, string.arg, string.string_id, (string.flags & USC_STRING_LATE) != 0, source);
        !done)
      return done;
  }
  return {};
}

Result<void> StringWriter::observe(const usc_event& event, std::span<const trace::OrderedString> strings) {
  const ExecArgs args = exec_args(event);
  const bool executed = args.path >= 0 && event.how == USC_HOW_RETURNED && event.result == 0;
  image_ = executed ? image_of(event) : nullptr;
  argv_ = args.argv;
  texts_ = strings;
  if (image_ != nullptr && !image_->path.empty() && !has_whole_path(strings, args.path)) {
    auto path = executed_path(event, *image_, args);
    if (!path) return path.error();
    with_path_.clear();
    for (const trace::OrderedString& string : strings)
      if (string.arg != args.path) with_path_.push_back(string);
    with_path_.push_back(*path);
    texts_ = with_path_;
  }
  auto named = descriptors_.observe(event, texts_);
  if (!named) return named.error();
  named_ = *named;
  find_object(event, named_, texts_);
  return {};
}

Result<void> StringWriter::write(EventRowId event_id) {
  descriptors_.set_event(descriptors::EventId(event_id.value()));
  for (const descriptors::DescriptorTracker::Named& one : named_)
    if (auto done = insert(event_id, one.arg, one.string_id, one.late, StringSource::kDescriptor); !done) return done;
  if (auto done = write_texts(event_id, texts_); !done) return done;
  if (image_ == nullptr) return {};
  const std::string argv = image_->argv_json();
  if (argv.empty()) return {};
  auto id = strings_.intern(argv);
  return id ? insert(event_id, argv_, *id, false, StringSource::kProgram) : id.error();
}

// Writes who had what open.
Result<void> StringWriter::finish() {
  const auto all = descriptors_.finish();
  if (!all) return all.error();
  auto insert = database_.prepare("INSERT INTO held_descriptor VALUES(?1, ?2, ?3, ?4, ?5, ?6)");
  if (!insert) return insert.error();
  for (const descriptors::HeldDescriptor& held : *all) {
    const auto until = held.until_ns ? std::optional(static_cast<std::int64_t>(*held.until_ns)) : std::nullopt;
    auto done = insert->run(held.process, held.fd, maybe_id(held.name), maybe_id(held.opened), until,
                            descriptors::held_until_name(held.until));
    if (!done) return done;
  }
  return {};
}

// The path that was passed, where it could not be read, or not all of it, and in old traces. The kernel keeps
// "/dev/fd/3/sub" of what execveat began at descriptor 3, and "/dev/fd/3" of an empty path.
Result<trace::OrderedString> StringWriter::executed_path(const usc_event& event, const ImageFacts& image,
                                                         ExecArgs args) {
  std::string_view path = image.path;
  const std::string folder =
      args.path > 0
          ? fmt::format("/dev/fd/{}", descriptors::descriptor_arg(event, static_cast<std::size_t>(args.path) - 1))
          : "";
  if (!folder.empty() && path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/'))
    path.remove_prefix(std::min(path.size(), folder.size() + 1));
  auto id = strings_.intern(path);
  if (!id) return id.error();
  trace::OrderedString string{.string_id = *id};
  string.arg = static_cast<std::uint8_t>(args.path);
  string.kind = USC_STRING_EXEC;
  string.flags = image.path == kRedacted ? USC_STRING_REDACTED : 0;
  string.first = path.empty() ? '\0' : path.front();
  string.is_special = path.starts_with("/proc/") || path.starts_with("/dev/");
  return string;
}

// Whether the call, which succeeded, says that its object is a folder.
bool StringWriter::tells_folder(const usc_event& event, const syscalls::ObjectArgs& args,
                                std::span<const trace::OrderedString> strings) {
  if (event.how != USC_HOW_RETURNED || event.result < 0) return false;
  const auto has_flag = [&](std::uint64_t flags) { return (flags & args.folder_flag) != 0; };
  return args.is_folder || (args.folder_flags >= 0 && has_flag(event.args[args.folder_flags])) ||
         std::any_of(strings.begin(), strings.end(), [&](const trace::OrderedString& how) {
           return how.kind == USC_STRING_WORDS && how.arg == args.open_how && has_flag(how.numbers[0]);
         });
}

// A path counts before a descriptor, and so does an address that the program passed. A path that is null stands for its
// folder (utimensat), and an empty one for the descriptor.
void StringWriter::find_object(const usc_event& event, std::span<const descriptors::DescriptorTracker::Named> named,
                               std::span<const trace::OrderedString> strings) {
  const syscalls::ObjectArgs& args = object_args_of(event.abi, event.kind);
  std::array<std::uint64_t, 6> values{};
  std::copy(std::begin(event.args), std::end(event.args), values.begin());
  object_ = object_without_names(args, values);
  if (!object_.is_about_any) return;
  const auto descriptor = [&](int arg) {
    const auto at = std::find_if(named.begin(), named.end(),
                                 [arg](const descriptors::DescriptorTracker::Named& one) { return one.arg == arg; });
    return arg < 0 || at == named.end() ? descriptors::DescriptorTracker::Named{} : *at;
  };
  const auto text = [&](int arg) -> const trace::OrderedString* {
    const auto at = std::find_if(strings.begin(), strings.end(), [arg](const trace::OrderedString& one) {
      return one.arg == arg && trace::string_holds(one.kind) != trace::StringHolds::DESCRIPTOR;
    });
    return arg < 0 || at == strings.end() || !at->string_id ? nullptr : &*at;
  };
  const auto take = [this](const descriptors::DescriptorTracker::Named& one) {
    object_.name = one.string_id;
    object_.is_folder = one.is_folder;
    object_.space = one.space;
  };
  if (args.path >= 0) {
    if (const trace::OrderedString* target = text(args.target)) {
      object_.target = target->string_id;
      object_.target_folder = descriptors_.target_folder();
    }
    if (const trace::OrderedString* path = text(args.path)) {
      object_.name = path->string_id;
      object_.space = descriptors_.space();
      object_.folder = descriptors_.folder();
      object_.is_path = path->first != 0;
      object_.is_folder = path->first == 0 && descriptor(args.folder).is_folder;
      if (descriptors_.special()) {  // through a descriptor: what that is
        object_.name = descriptors_.special();
        object_.is_path = false;
      }
    } else if (event.args[args.path] == 0) {
      take(descriptor(args.folder));
    }
  } else {
    if (const trace::OrderedString* address = text(args.address))
      object_.name = address->string_id;
    else
      take(descriptor(args.descriptor));
    object_.source = descriptor(args.source).string_id;
  }
  object_.is_folder = object_.is_folder || tells_folder(event, args, strings);
}

const StringWriter::ExecArgs& StringWriter::exec_args(const usc_event& event) {
  static constexpr ExecArgs kNone;
  if (event.abi >= kAbis || event.kind >= syscalls::kSyscallNumbers) return kNone;
  // x32 has a number of its own for exec.
  return exec_args_[event.abi * syscalls::kSyscallNumbers + event.kind];
}

// The image that this exec made: of the same task, while the call was under way.
const ImageFacts* StringWriter::image_of(const usc_event& event) const {
  const auto at = execs_.find(trace::TaskId(event.head.task));
  if (at == execs_.end()) return nullptr;
  const auto first = std::lower_bound(at->second.begin(), at->second.end(), event.entry_ns,
                                      [](const ImageFacts* image, std::uint64_t time) { return image->time < time; });
  return first != at->second.end() && (*first)->time <= event.head.time ? *first : nullptr;
}

}  // namespace uscope::store
