// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/content.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "trace/string_kind.h"

namespace uscope::trace {

ContentParts content_parts(const usc_string& string, std::string_view bytes) {
  ContentParts out;
  const bool redacted = (string.flags & USC_STRING_REDACTED) != 0;
  switch (string_holds(string.kind)) {
    case StringHolds::DATA:
      out.redacted = redacted;
      if (!redacted) out.data = bytes;
      break;
    case StringHolds::VECTOR: {
      if (bytes.size() < sizeof(usc_vector)) break;
      std::uint64_t count = 0;
      std::memcpy(&count, bytes.data(), sizeof(count));
      const std::size_t lengths = std::min<std::uint64_t>(count, USC_VECTOR_LENGTHS);
      out.structure = bytes.substr(0, offsetof(usc_vector, length) + lengths * sizeof(std::uint64_t));
      out.redacted = redacted;
      if (!redacted) out.data = bytes.substr(sizeof(usc_vector));
      break;
    }
    case StringHolds::STRUCTURE:
    case StringHolds::MESSAGES:
      out.structure = bytes;
      break;
    default:
      break;
  }
  return out;
}

}  // namespace uscope::trace
