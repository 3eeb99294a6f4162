// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "exporters/profiles/gzip.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

namespace uscope::exporters {

Gzip::Gzip(Bytes out) : out_(std::move(out)) {
  constexpr int kGzipHeader = 16;  // zlib's way to ask for it: added to the size of the window
  constexpr int kMemoryLevel = 8;  // zlib's default
  // With these arguments it can only lack memory, which is thrown as everywhere else.
  if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipHeader, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
}

Gzip::~Gzip() {
  deflateEnd(&stream_);
}

void Gzip::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t part = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads there
    stream_.avail_in = static_cast<uInt>(part);
    run(Z_NO_FLUSH);
    bytes.remove_prefix(part);
  }
}

void Gzip::finish() {
  run(Z_FINISH);
}

void Gzip::run(int flush) {
  std::array<char, 1 << 13> buffer{};
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = static_cast<uInt>(buffer.size());
    (void)deflate(&stream_, flush);  // errors come of a wrong use alone
    out_({buffer.data(), buffer.size() - stream_.avail_out});
  } while (stream_.avail_out == 0);
}

}  // namespace uscope::exporters
