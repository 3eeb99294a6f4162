// A cause of loss that the loader detects, in addition to those that tracing counts (include/uscope/lists/loss.def). It
// does not mean lost events.
#pragma once

namespace uscope::store {

constexpr const char* kFileChanged = "file_changed";
constexpr const char* kFileChangedMeaning =
    "binaries that were changed or replaced after they were mapped: what they hold now is not what ran, and names "
    "nothing";

}  // namespace uscope::store
