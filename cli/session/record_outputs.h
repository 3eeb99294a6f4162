// The files that `uscope record` writes: the raw trace beside the database, the database, and what --keep-raw asks for.
#pragma once

#include <optional>
#include <vector>

#include "cli/session/record_plan.h"
#include "store/files/output_file.h"
#include "support/result.h"
#include "trace/raw_reader.h"
#include "tracer/recorder/recorder.h"

namespace uscope::cli {

class RecordOutputs {
 public:
  // Said before anything is traced: what stands in the way of the outputs.
  static Result<RecordOutputs> find(const RecordVerbOptions& options);

  // For the recorder; this object must stay where it is until the recording has ended.
  [[nodiscard]] tracer::RawOutput raw_output();
  [[nodiscard]] const std::string& raw_name() const { return raw_name_; }
  // Reads the raw trace from its start, by its own descriptor.
  [[nodiscard]] Result<trace::RawReader> read_raw() const;

  [[nodiscard]] const store::OutputPlace& database() const { return database_; }
  // Of the outputs; for confine().
  [[nodiscard]] std::vector<int> folders() const;
  // The raw trace where it will be kept, -1 where it will not.
  [[nodiscard]] int kept_raw() const { return keep_ && raw_ ? raw_->fd() : -1; }

  // Once the database is there: the raw trace gets its name, or is removed.
  Result<void> settle_raw();
  // Where the raw trace is, for those who load it again.
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
