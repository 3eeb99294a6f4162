// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A synthetic raw trace, loaded: what tests of the loader begin with.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "store/db/database.h"
#include "store/loader.h"
#include "tests/unit/trace/raw_trace.h"

namespace uscope::store {

// Names addresses by rule: "f<address>", with an inlined call "g;h" around 0x401500. At 0x401700 a function of a
// run-time system is inlined, 0x401800 is one, 0x401900 is main() of a launcher, 0x401a00 an entry point.
class FakeNamer : public symbolizer::FrameNamer {
 public:
  std::vector<symbolizer::NamedFrame> name(const symbolizer::ModuleRequest&, std::uint64_t address,
                                           bool exact) override {
    char text[32];
    std::snprintf(text, sizeof(text), "f%llx%s", static_cast<unsigned long long>(address), exact ? "!" : "");
    if (address == 0x401700)
      return {{"std::read", 1, "", 0, true, trace::FunctionOrigin::kRuntime}, {text, 2, "", 0, false}};
    if (address == 0x401800) return {{"std::open", 4, "", 0, false, trace::FunctionOrigin::kRuntime}};
    if (address == 0x401900) return {{"main", 4, "", 0, false, {}, trace::FunctionRole::kHandsOver}};
    if (address == 0x401a00)
      return {{"_start", 4, "", 0, false, trace::FunctionOrigin::kRuntime, trace::FunctionRole::kEntry}};
    if (address == 0x401500) return {{"g;h", 1, "a.c", 7, true}, {text, 2, "a.c", 9, false}};
    return {{text, 4, "", 0, false}};
  }
};

class LoaderTest : public testing::Test {
 protected:
  void begin(std::uint32_t cpus = 2) { trace_.emplace(folder_ / "raw", cpus); }

  // A process with one image, whose executable is file 2.
  void usual() {
    begin();
    trace_->task({});
    trace_->exec(1, 1, 1, 2, "/opt/bin/app", std::string("app\0-x\0", 7));
    trace_->file(2, "/opt/bin/app", "IDA");
    trace_->file(3, "/usr/lib/libc.so.6", "IDC");
    trace_->file(4, "/usr/lib/libz.so.1", "IDZ");
  }

  void load() {
    if (trace_) trace_->close();
    trace_.reset();
    LoadOptions options;
    options.namer = std::make_unique<FakeNamer>();
    auto summary = store::load(folder_ / "raw", folder_ / "db", options);
    ASSERT_TRUE(summary) << summary.error().what;
    summary_ = *summary;
    auto database = Database::open(folder_ / "db");
    ASSERT_TRUE(database) << database.error().what;
    database_.emplace(std::move(*database));
  }

  // Rows as text: columns by `|`, rows by newline, NULL as `-`.
  std::string rows(const std::string& sql) {
    auto query = database_->prepare(sql);
    if (!query) return query.error().what;
    std::string text;
    for (;;) {
      auto row = query->step();
      if (!row) return row.error().what;
      if (!*row) return text;
      if (!text.empty()) text += '\n';
      for (int i = 0; i < query->columns(); i++) {
        if (i) text += '|';
        text += query->is_null(i) ? "-" : std::string(query->text(i));
      }
    }
  }

  test::TemporaryFolder folder_;
  std::optional<RawTrace> trace_;
  std::optional<Database> database_;
  LoadSummary summary_;
};

}  // namespace uscope::store
