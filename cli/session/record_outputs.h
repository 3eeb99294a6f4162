// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The files that `uscope record` writes: the raw trace next to the database, the database, and the file of --keep-raw.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/session/record_plan.h"
#include "store/files/output_file.h"
#include "support/kept_copies.h"
#include "support/result.h"
#include "trace/raw_reader.h"
#include "tracer/recorder/recorder.h"

namespace uscope::cli {

// ", the one before is uscope.db.old", behind the name of what was written; empty if nothing had that name.
[[nodiscard]] std::string replaced_text(const store::OutputPlace& place);

class RecordOutputs {
 public:
  // Returns an error if the outputs cannot be written; called before anything is traced.
  static Result<RecordOutputs> find(const RecordVerbOptions& options);

  // For the recorder; this object must not move until the recording has ended.
  [[nodiscard]] tracer::RawOutput raw_output();
  [[nodiscard]] KeptCopies::Begin copies() const;
  [[nodiscard]] const std::string& raw_name() const { return raw_name_; }
  // Reads the raw trace from its start, by its own descriptor.
  [[nodiscard]] Result<trace::RawReader> read_raw() const;
  // Removes a raw trace that holds nothing. Returns whether it did.
  [[nodiscard]] bool drop_empty_raw();

  [[nodiscard]] const store::OutputPlace& database() const { return database_; }
  // The folders of the outputs; for confine().
  [[nodiscard]] std::vector<int> folders() const;
  // The raw trace if it will be kept, else -1.
  [[nodiscard]] int kept_raw() const { return keep_ && raw_ ? raw_->fd() : -1; }

  // Gives the raw trace its name or removes it; call it once the database is complete.
  Result<void> settle_raw();
  // The place of the raw trace, for users who want to load it again.
  [[nodiscard]] std::string where_raw_is() const;

 private:
  RecordOutputs(store::OutputPlace database, std::optional<store::OutputPlace> keep, std::string raw_name)
      : database_(std::move(database)), keep_(std::move(keep)), raw_name_(std::move(raw_name)) {}

  store::OutputPlace database_;
  std::optional<store::OutputPlace> keep_;
  std::string raw_name_;
  std::optional<store::OutputFile> raw_;
};

}  // namespace uscope::cli
