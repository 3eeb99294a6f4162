// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which events beside system calls a question asks for: those of the classes that its WHERE chooses. Tracing them costs
// something, so a question that does not choose them by class gets none of them from what runs.
#pragma once

#include <cstdint>
#include <string>

#include "query/sql/tree.h"

namespace uscope::query {

// Sources whose events are hits of probes, as bits. A class is chosen where WHERE may hold for it, and holds less for a
// class that does not exist: by class = 'sample', class IN (…), class GLOB 'off*', and not by class <> 'signal'. Other
// columns count as not known. `select`: the question, or nullptr if it is not one SELECT over v_event: then classes are
// chosen that it names in quotes.
[[nodiscard]] std::uint32_t asked_sources(const std::string& text, const Select* select);

// "sample, offcpu".
[[nodiscard]] std::string names_of_sources(std::uint32_t sources);

}  // namespace uscope::query
