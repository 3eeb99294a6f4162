// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Files that are made from traces and go to where -o, or --html, says: docs/cli.md, "Outputs".
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/db/database.h"
#include "store/files/output_file.h"
#include "support/result.h"

namespace uscope::cli {

struct StreamCloser {
  void operator()(std::FILE* stream) const { std::fclose(stream); }
};
using Stream = std::unique_ptr<std::FILE, StreamCloser>;

// A stream over a copy of a descriptor; `mode` as fdopen() has it.
[[nodiscard]] Result<Stream> stream_over(int fd, const char* mode = "w");

using TextWriter = std::function<Result<void>(std::FILE* stream)>;

// Confines this process, then calls `write` with a stream to the output. A file gets its name when `write` has
// succeeded; a signal ends it without a name. `place` was found before the databases were opened; none of them may be
// the output itself.
Result<void> write_text_output(const store::OutputPlace& place, const std::vector<const store::Database*>& databases,
                               const TextWriter& write);

// Takes the streams of several files, in the order of their names.
using FilesWriter = std::function<Result<void>(const std::vector<Stream>& streams)>;

// The same with a new folder, in which the files get their names one after the other when `write` has succeeded. If it
// has not, there is no folder.
Result<void> write_folder_output(const std::filesystem::path& folder,
                                 const std::vector<const store::Database*>& databases,
                                 const std::vector<std::string>& names, const FilesWriter& write);

}  // namespace uscope::cli
