// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/rows/vdso.h"

#include <cstddef>
#include <span>

#include "symbolizer/elf/vdso_image.h"

namespace uscope::symbolizer {

Result<UnwindTable> vdso_rows(RowDetail detail) {
  const std::span<const std::byte> image = vdso_image();
  if (image.empty()) return Error{"the kernel gave this process no vdso", ""};
  return build_rows_from_memory(image, "[vdso]", detail);
}

}  // namespace uscope::symbolizer
