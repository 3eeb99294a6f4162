// Explains the causes of loss (include/uscope/lists/loss.def).
#pragma once

#include <string>
#include <string_view>

namespace uscope::analyzer {

// Returns an empty string for a cause that this version does not know.
[[nodiscard]] std::string loss_meaning(std::string_view cause);

// False: no event is missing, only something that belongs to events.
[[nodiscard]] bool loses_events(std::string_view cause);

}  // namespace uscope::analyzer
