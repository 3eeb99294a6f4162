// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names of descriptors that the recording was asked to redact.
#include "tests/unit/store/descriptors/descriptor_trace.h"

namespace uscope::store {
namespace {

TEST_F(DescriptorsTest, NamesThatArePutTogetherAreRedacted) {
  trace_->meta("redact", R"(["/work/secret*"])");
  open("secret.key", 3);
  read(3);
  open("other", 4);
  read(4);
  load();
  EXPECT_EQ(reads(), "[redacted]\n/work/other");
}

// The tracer writes its patterns as a trace has texts, with each backslash twice.
TEST_F(DescriptorsTest, NamesWithABackslashAreRedacted) {
  trace_->meta("redact", R"(["/work/a\\\\b*"])");
  open("a\\b", 3);
  read(3);
  load();
  EXPECT_EQ(reads(), "[redacted]");
}

}  // namespace
}  // namespace uscope::store
