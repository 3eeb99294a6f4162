// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "greeting.h"

const char* greeting() {
  return "hello, world";
}
