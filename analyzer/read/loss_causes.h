// What the causes of loss mean (include/uscope/lists/loss.def).
#pragma once

#include <string>
#include <string_view>

namespace uscope::analyzer {

// Empty for a cause that this version does not know.
[[nodiscard]] std::string loss_meaning(std::string_view cause);

// False: the events are all there, something beside them is not.
[[nodiscard]] bool loses_events(std::string_view cause);

}  // namespace uscope::analyzer
