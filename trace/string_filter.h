// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the user wants of strings: all, none, or some left out. It stands between the kernel side's records and the raw
// trace, so that what is left out reaches no disk.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/redactor.h"
#include "uscope/record.h"

namespace uscope::trace {

class StringFilter {
 public:
  // `strings` false: no strings are recorded; argument lists are left out then too.
  explicit StringFilter(Redactor redactor = {}, bool strings = true)
      : redactor_(std::move(redactor)), strings_(strings) {}

  // The record with what is hidden in it replaced; `record` itself where nothing is. For usc_string and usc_exec;
  // others come back as they are. Valid until the next call.
  const usc_record& filter(const usc_record& record);

  // A text that is to be hidden becomes "[redacted]".
  [[nodiscard]] std::string filter_text(const std::string& text) const;

  [[nodiscard]] bool takes_strings() const { return strings_; }

 private:
  const usc_record& filter_string(const usc_string& string);
  [[nodiscard]] bool hides_buffers(std::string_view head, std::string_view bytes, bool is_cut) const;
  const usc_record& filter_exec(const usc_exec& exec);
  const usc_record& filter_messages(const usc_string& string);
  const usc_record& filter_arguments(const usc_string& string);

  Redactor redactor_;
  bool strings_;
  std::vector<char> bytes_;
};

}  // namespace uscope::trace
