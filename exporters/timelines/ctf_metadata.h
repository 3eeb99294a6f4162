// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The metadata of a CTF 1.8 trace: what CtfStream's bytes are, in the language TSDL.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/read/catalog.h"
#include "exporters/bytes.h"

namespace uscope::exporters {

// Numbers of the classes of events that describe the trace itself.
enum class CtfEvent : std::uint32_t { kProcess, kProgram, kThread, kStack, kLoss };
constexpr std::uint32_t kFirstCtfKind = 16;

// The classes of a kind's events: what happens at one moment, or begins; and what ends.
constexpr std::uint32_t ctf_begin(std::size_t kind) {
  return kFirstCtfKind + 2 * static_cast<std::uint32_t>(kind);
}
constexpr std::uint32_t ctf_end(std::size_t kind) {
  return ctf_begin(kind) + 1;
}

void write_ctf_metadata(const analyzer::Catalog& catalog, const Bytes& out);

// A text in double quotes, as TSDL writes it.
[[nodiscard]] std::string tsdl_quoted(const std::string& raw);

}  // namespace uscope::exporters
