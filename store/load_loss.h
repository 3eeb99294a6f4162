// What the loader alone finds missing, beside the causes that tracing counts (include/uscope/lists/loss.def). No
// events.
#pragma once

namespace uscope::store {

constexpr const char* kFileChanged = "file_changed";
constexpr const char* kFileChangedMeaning =
    "binaries that were changed or replaced after they were mapped: what they hold now is not what ran, and names "
    "nothing";

}  // namespace uscope::store
