// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Compresses what is written piece by piece, as gzip does.
#pragma once

#include <zlib.h>

#include <string_view>

#include "exporters/bytes.h"

namespace uscope::exporters {

class Gzip {
 public:
  explicit Gzip(Bytes out);
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip();

  void write(std::string_view bytes);
  // Writes what is left, and the end of the file. Call it once; nothing may be written afterwards.
  void finish();

 private:
  void run(int flush);

  Bytes out_;
  z_stream stream_{};
};

}  // namespace uscope::exporters
