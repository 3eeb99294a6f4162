// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Text that is made from traces and goes to where -o, or --html, says: docs/cli.md, "Outputs".
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
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

}  // namespace uscope::cli
