// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A type as C writes it, put together from the outermost step on, as DWARF and BTF have it: of `const char *` first the
// pointer, then const, then char.
#pragma once

#include <string>
#include <string_view>

namespace uscope {

class TypeText {
 public:
  // "*", "&"
  void point(std::string_view sign);
  // "const", "volatile": of what comes next. The same one twice counts once.
  void qualify(std::string_view word);
  // The whole text, with what stands at its end: "char", "struct stat".
  [[nodiscard]] std::string of(std::string_view name) const;

 private:
  std::string words_;   // qualifiers that wait for their name or their pointer: "const volatile"
  std::string behind_;  // "*const *"
};

}  // namespace uscope
