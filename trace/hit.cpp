// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/hit.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "support/text.h"
#include "trace/raw_record.h"

namespace uscope::trace {

Event event_of_hit(const usc_hit& hit) {
  Event event;
  event.head = hit.head;
  event.entry_ns = hit.entry_ns;
  event.result = hit.result;
  std::copy(std::begin(hit.args), std::end(hit.args), std::begin(event.args));
  event.stack = hit.stack;
  event.image = hit.image;
  event.kind = hit.kind;
  event.how = hit.how;
  event.flags = hit.flags & (USC_EVENT_NO_RESULT | USC_EVENT_ATTACHED);
  event.source = hit.source;
  event.unread = hit.unread;
  return event;
}

Event event_of_logged(const usc_logged& logged) {
  Event event;
  event.head = logged.head;
  event.entry_ns = logged.head.time;
  std::copy_n(std::begin(logged.value), std::min<std::size_t>(logged.values, USC_LOGGED_VALUES),
              std::begin(event.args));
  event.image = logged.image;
  event.source = logged.source;
  event.kind = logged.kind;
  event.how = USC_HOW_LOGGED;
  event.flags = USC_EVENT_NO_RESULT;
  event.stack = logged.stack;
  return event;
}

KindText kind_text(std::string_view texts) {
  KindText out;
  const std::vector<std::string_view> parts = split_nul(texts);
  for (std::size_t i = 0; i < parts.size(); i++) {
    const std::string_view part = parts[i];
    if (i == 0) {
      out.name = trace_text(part);
      continue;
    }
    const std::size_t colon = std::min(part.find(':'), part.size());
    out.arguments.push_back(
        {trace_text(part.substr(0, colon)), trace_text(part.substr(std::min(colon + 1, part.size())))});
  }
  return out;
}

void KindTable::add(const usc_kind& kind, std::string_view texts) {
  const std::pair key(kind.source, kind.kind);
  if (bytes_ + texts.size() > kMostBytes) return;
  const auto known = kinds_.find(key);
  if (known == kinds_.end() && kinds_.size() >= kMost) return;
  KindText told = kind_text(texts);
  if (known == kinds_.end()) {
    kinds_.emplace(key, std::move(told));
  } else {
    if (!known->second.result_type.empty() || told.arguments.size() != 1 || told.arguments[0].name != kResultName)
      return;
    known->second.result_type = std::move(told.arguments[0].type);
  }
  bytes_ += texts.size();
}

const KindText* KindTable::find(std::uint8_t source, std::uint32_t kind) const {
  const auto at = kinds_.find({source, kind});
  return at == kinds_.end() ? nullptr : &at->second;
}

}  // namespace uscope::trace
