// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The contents of a gzip file, by zlib's reader.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <string>

namespace uscope::test {

inline std::string unzipped(std::string file) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(file.data());
  stream.avail_in = static_cast<uInt>(file.size());
  std::string out;
  std::array<char, 4096> buffer{};
  int done = Z_OK;
  while (done == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    done = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  EXPECT_EQ(done, Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0U);
  inflateEnd(&stream);
  return out;
}

}  // namespace uscope::test
