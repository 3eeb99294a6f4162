// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#pragma once

const char* greeting();
