// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/ordered_string.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "support/redactor.h"
#include "support/socket_address.h"
#include "support/text.h"
#include "trace/argument_list.h"
#include "trace/content.h"
#include "trace/passed_file.h"
#include "trace/string_kind.h"

namespace uscope::trace {
namespace {

Result<OrderedString> intern_passed(const usc_string& head, std::string_view bytes, Texts& texts) {
  OrderedString out{.flags = head.flags, .arg = head.arg, .kind = head.kind};
  const PassedFile file = passed_file(bytes);
  out.numbers = passed_numbers(file);
  const bool redacted = (head.flags & USC_STRING_REDACTED) != 0;
  if (file.name.empty() && !redacted) return out;
  auto id = texts.intern(redacted ? std::string(kRedacted) : trace_text(file.name));
  if (!id) return id.error();
  out.string_id = *id;
  return out;
}

}  // namespace

std::string string_text(const usc_string& head, std::string_view bytes) {
  switch (string_holds(head.kind)) {
    case StringHolds::ADDRESS:
      if ((head.flags & USC_STRING_REDACTED) == 0) return trace_text(socket_address_text(bytes));
      break;
    case StringHolds::ARGUMENTS:
      return argument_list_json(bytes, (head.flags & USC_STRING_TRUNCATED) != 0);
    case StringHolds::TEXT_NUL:  // getcwd's result includes the NUL
      if (bytes.ends_with('\0')) bytes.remove_suffix(1);
      break;
    default:
      break;
  }
  return trace_text(bytes) + ((head.flags & USC_STRING_TRUNCATED) != 0 ? "…" : "");
}

Result<OrderedString> ordered_string(const RawRecord& record, Texts& texts, Contents& contents) {
  const auto head = record.as<usc_string>();
  const std::string_view bytes = record.data<usc_string>(0, head.bytes);
  OrderedString out{.flags = head.flags, .arg = head.arg, .kind = head.kind};
  const StringHolds holds = string_holds(head.kind);
  if (holds == StringHolds::NUMBERS || holds == StringHolds::STRUCTURE)
    std::memcpy(out.numbers.data(), bytes.data(), std::min(bytes.size(), sizeof(out.numbers)));
  if (holds == StringHolds::NUMBERS) return out;
  if (holds == StringHolds::OPENED) {
    const PassedFile file = passed_file(bytes);
    out.numbers = {file.dev, file.ino, file.space};
    return out;
  }
  if (holds == StringHolds::DESCRIPTOR) return intern_passed(head, bytes, texts);
  if (is_content(head.kind)) {
    const ContentParts parts = content_parts(head, bytes);
    for (const auto& [part, id] :
         {std::pair(parts.structure, &out.structure_id), std::pair(parts.data, &out.data_id)}) {
      if (!part) continue;
      auto row = contents.intern(*part);
      if (!row) return row.error();
      *id = *row;
    }
    return out;
  }
  const std::string text = string_text(head, bytes);
  auto id = texts.intern(text);
  if (!id) return id.error();
  out.string_id = *id;
  if (!text.empty()) out.first = text.front();
  out.is_special = text.starts_with("/proc/") || text.starts_with("/dev/");
  return out;
}

}  // namespace uscope::trace
