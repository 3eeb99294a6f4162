// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "greeting.h"

std::string greeting(const std::string& name) {
  return "hello, " + name;
}
