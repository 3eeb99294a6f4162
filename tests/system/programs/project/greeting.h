// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#pragma once

#include <string>

std::string greeting(const std::string& name);
