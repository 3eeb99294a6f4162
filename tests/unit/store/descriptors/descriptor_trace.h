// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A synthetic trace of calls on descriptors, and the names that the loader gives them.
#pragma once

#include <string>

#include "tests/unit/descriptors/calls_of.h"
#include "tests/unit/store/load_support.h"

namespace uscope::store {

class DescriptorsTest : public CallsOf<LoaderTest> {
 protected:
  void SetUp() override {
    usual();
    trace_->descriptor(1, USC_FD_CWD, "/work", kStart);
    trace_->descriptor(1, USC_FD_END, "", kStart);
  }

  // What each read's descriptor stood for, by event.
  std::string reads() {
    return rows(
        "SELECT coalesce(value, '?') FROM event JOIN kind ON kind.id = kind_id LEFT JOIN event_string ON event_id = "
        "event.id AND source = 2 LEFT JOIN string ON string.id = string_id WHERE name = 'read' ORDER BY event.id");
  }
};

}  // namespace uscope::store
