// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Prints random questions, one a line. usage: random_questions COUNT SEED
#include <cstdio>
#include <cstdlib>
#include <random>

#include "tests/support/random_question.h"

int main(int count, char** words) {
  if (count != 3) return 2;
  std::mt19937_64 random(std::strtoull(words[2], nullptr, 10));
  for (long left = std::strtol(words[1], nullptr, 10); left > 0; left--)
    std::puts(uscope::test::RandomQuestion(random).make().c_str());
  return 0;
}
