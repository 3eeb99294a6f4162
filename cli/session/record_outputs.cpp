// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/record_outputs.h"

#include <sys/stat.h>

#include <utility>

#include "support/private_file.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

constexpr const char* kRawSuffix = ".raw.part";

}  // namespace

std::string replaced_text(const store::OutputPlace& place) {
  if (!place.replaces()) return "";
  const std::string older = place.older_name();
  return older.empty() ? ", in place of an older file" : ", the one before is " + escape_terminal(older);
}

Result<RecordOutputs> RecordOutputs::find(const RecordVerbOptions& options) {
  auto database = store::OutputPlace::find(options.output, store::OutputKind::kDatabase, options.force);
  if (!database) return database.error();
  const std::string raw = options.output + kRawSuffix;
  if (database->is_being_written(kRawSuffix))
    return Error{"another uscope is recording to " + options.output,
                 "wait until it has ended, or choose another place with -o"};
  if (database->keeps(kRawSuffix))
    return Error{"there is a raw trace of another recording, which has not ended well: " + raw,
                 "`uscope load " + shell_quoted(raw) + " -o FILE.db` loads it; then remove it"};
  std::optional<store::OutputPlace> keep;
  if (options.keep_raw) {
    auto place = store::OutputPlace::find(*options.keep_raw, store::OutputKind::kRawTrace, options.force);
    if (!place) return place.error();
    if (place->same_place(*database))
      return Error{"-o and --keep-raw name the same file: " + options.output, "give two names"};
    if (!place->same_mount(*database))
      return Error{"the raw trace is written beside the database, and cannot be kept in another file system: " +
                       *options.keep_raw,
                   "choose a place with --keep-raw in that of " + options.output};
    keep.emplace(std::move(*place));
  }
  return RecordOutputs(std::move(*database), std::move(keep), raw);
}

tracer::RawOutput RecordOutputs::raw_output() {
  tracer::RawOutput output;
  output.name = raw_name_;
  output.begin = [this]() -> Result<UniqueFd> {
    auto file = database_.begin(kRawSuffix, false);
    if (!file) return file.error();
    raw_.emplace(std::move(*file));
    raw_->keep_file();  // keeps the recording even if a later step fails
    return raw_->duplicate();
  };
  output.discard = [this] {
    if (raw_) raw_->abandon();
  };
  return output;
}

// In the folder of the raw trace.
KeptCopies::Begin RecordOutputs::copies() const {
  return [this] { return open_nameless(database_.folder()); };
}

Result<trace::RawReader> RecordOutputs::read_raw() const {
  if (!raw_) return Error{"there is no raw trace", "this is a mistake in uscope: please report it"};
  auto file = raw_->duplicate();
  if (!file) return file.error();
  return trace::RawReader::open(std::move(*file), raw_name_);
}

bool RecordOutputs::drop_empty_raw() {
  struct stat status {};
  if (!raw_ || fstat(raw_->fd(), &status) != 0 || status.st_size != 0) return false;
  raw_->abandon();
  return true;
}

std::vector<int> RecordOutputs::folders() const {
  std::vector<int> folders{database_.folder()};
  if (keep_) folders.push_back(keep_->folder());
  return folders;
}

Result<void> RecordOutputs::settle_raw() {
  if (!raw_) return {};
  if (!keep_) {
    raw_->abandon();
    return {};
  }
  auto done = raw_->commit_to(*keep_);
  raw_->keep_file();
  if (done) return {};
  return Error{"cannot keep the raw trace as " + keep_->path().string() + ": " + done.error().what,
               raw_->stands() ? "it is in " + raw_name_ : done.error().remedy};
}

std::string RecordOutputs::where_raw_is() const {
  return raw_ && raw_->stands() ? "the trace was recorded to " + raw_name_ + ", but could not be loaded"
                                : "the trace could not be loaded, and somebody has removed the raw trace " + raw_name_;
}

}  // namespace uscope::cli
