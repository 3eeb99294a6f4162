// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <cstdio>

#include "greeting.h"

int main() {
  std::puts(greeting("world").c_str());
  return 0;
}
