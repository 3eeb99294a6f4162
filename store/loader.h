// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Loads a raw trace into a store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "store/db/database.h"
#include "support/result.h"
#include "symbolizer/names/frame_namer.h"
#include "trace/raw_reader.h"

namespace uscope::store {

struct LoadOptions {
  std::function<void(double fraction)> progress;  // 0 … 1, rising; may be empty
  std::function<bool()> stop;                     // polled often; true: the load fails soon; may be empty
  symbolizer::ModuleOpener open_module;           // may be empty: files are opened by their path, and checked
  symbolizer::DebugFetcher fetch_debug_file;      // may be empty: no server is asked
  bool app_runtime = false;                       // triggers are those of --app-runtime
  std::unique_ptr<symbolizer::FrameNamer> namer;  // replaces the files' own symbols; for tests
};

struct LoadSummary {
  std::uint64_t events = 0;
  std::uint64_t stacks = 0;  // distinct
  std::uint64_t processes = 0;
  std::uint64_t threads = 0;
  std::uint64_t lost = 0;         // events that are missing: the losses whose class counts them (trace/loss_class.h)
  std::uint64_t lost_beside = 0;  // losses that leave out something other than events: stacks, strings, names
  std::uint64_t damaged_bytes = 0;
  bool complete = false;  // the raw trace has an orderly end
};

// Reads the raw trace twice (definitions, then events), writes the store, and commits it when it is complete. From a
// raw trace that is damaged or cut off it loads everything intact, and adds loss rows for the rest. Memory: about 100
// MiB, plus the needs of distinct stacks, frames, tasks and long calls.
Result<LoadSummary> load(trace::RawReader raw, DatabaseWriter database, const LoadOptions& options = {});
// The same without the end: indices are not made, and nothing is committed.
Result<LoadSummary> fill(trace::RawReader raw, DatabaseWriter& database, const LoadOptions& options);
// The same as the first, by path; see DatabaseWriter::create.
Result<LoadSummary> load(const std::filesystem::path& raw, const std::filesystem::path& database,
                         const LoadOptions& options = {});

}  // namespace uscope::store
