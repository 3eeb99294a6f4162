// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Changes raw traces as a whole file of records, so that what is behind a record's length is reached too: half of the
// time bytes as they are, otherwise one record is changed inside (its length mended afterwards), doubled, dropped, or
// moved.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "uscope/record.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using Bytes = std::vector<std::uint8_t>;

// The records of a file as far as its lengths hold; the rest is the last one.
std::vector<Bytes> records_of(const Bytes& file) {
  std::vector<Bytes> records;
  std::size_t at = std::min(sizeof(usc_raw_header), file.size());
  while (at < file.size()) {
    std::uint32_t size = 0;
    if (file.size() - at >= sizeof(usc_record)) std::memcpy(&size, file.data() + at, sizeof(size));
    if (size < sizeof(usc_record) || size % 8 != 0 || size > file.size() - at)
      size = static_cast<std::uint32_t>(file.size() - at);
    records.emplace_back(file.begin() + static_cast<std::ptrdiff_t>(at),
                         file.begin() + static_cast<std::ptrdiff_t>(at + size));
    at += size;
  }
  return records;
}

void change(Bytes& record) {
  constexpr std::size_t kGrowth = 256;
  const std::size_t before = record.size();
  record.resize(before + kGrowth);
  std::size_t size = 0;
  if (before > sizeof(usc_record)) {  // what is behind the head
    size = sizeof(usc_record) + LLVMFuzzerMutate(record.data() + sizeof(usc_record), before - sizeof(usc_record),
                                                 record.size() - sizeof(usc_record));
  } else {
    size = LLVMFuzzerMutate(record.data(), before, record.size());
  }
  size = std::min((size + 7) / 8 * 8, record.size());
  record.resize(size);
  const auto length = static_cast<std::uint32_t>(size);
  if (size >= sizeof(usc_record)) std::memcpy(record.data(), &length, sizeof(length));
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  std::minstd_rand random(seed);
  const Bytes file(data, data + size);
  std::vector<Bytes> records = records_of(file);
  const unsigned way = random() % 8;
  if (way < 3 || records.empty()) return LLVMFuzzerMutate(data, size, most);
  const std::size_t which = random() % records.size();
  const std::size_t other = random() % records.size();
  if (way == 3) {
    records.insert(records.begin() + static_cast<std::ptrdiff_t>(other), Bytes(records[which]));
  } else if (way == 4) {
    records.erase(records.begin() + static_cast<std::ptrdiff_t>(which));
  } else if (way == 5) {
    std::swap(records[which], records[other]);
  } else {
    change(records[which]);
  }
  Bytes changed(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(std::min(sizeof(usc_raw_header), size)));
  for (const Bytes& record : records) changed.insert(changed.end(), record.begin(), record.end());
  changed.resize(std::min(changed.size(), most));
  std::copy(changed.begin(), changed.end(), data);
  return changed.size();
}
