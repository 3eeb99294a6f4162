// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the trace says of a file when its facts and rows are known.
#pragma once

#include "support/result.h"
#include "trace/ids.h"
#include "trace/sink.h"
#include "tracer/files/file.h"

namespace uscope::tracer {

// Writes the file's usc_file_info and, if the kernel side has not announced the file, a usc_file with its key before.
Result<void> write_file(trace::RecordSink& sink, trace::FileId serial, const File& file);

}  // namespace uscope::tracer
