// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// window_cuts FILE.raw CUTS: compares a raw trace with what live::Window makes of it at so many places. Prints what is
// different, or how many events were compared; exits with 1 if there is a difference.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "tests/support/window_cut.h"

namespace {

int fail(const uscope::Error& error) {
  std::fprintf(stderr, "%s\n", error.what.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace uscope;
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FILE.raw CUTS\n", argv[0]);
    return 2;
  }
  auto raw = trace::RawReader::open(argv[1]);
  if (!raw) return fail(raw.error());
  std::vector<live::KeptRecord> records;
  trace::RawRecord record;
  for (;;) {
    const auto more = raw->next(record);
    if (!more) return fail(more.error());
    if (!*more) break;
    const auto* bytes = reinterpret_cast<const char*>(record.bytes.data());
    records.emplace_back(bytes, bytes + record.bytes.size());
  }
  const std::size_t count = records.size();
  auto cuts = test::WindowCuts::of(std::move(records));
  if (!cuts) return fail(cuts.error());
  std::mt19937_64 random(count);
  const auto most = std::strtoul(argv[2], nullptr, 10);
  for (unsigned long i = 0; i < most; i++) {
    const std::size_t cut = random() % count;
    const auto text = cuts->differences(cut, i % 2 == 0 ? 0 : count / 20 + 1);
    if (!text) return fail(text.error());
    if (text->empty()) continue;
    std::printf("cut at record %zu of %zu:\n%s", cut, count, text->c_str());
    return 1;
  }
  std::printf("%zu\n", cuts->compared());
  return 0;
}
