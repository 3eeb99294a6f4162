// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A statically linked program has a C library of its own. A shared library that it loads brings the machine's C library
// along: two of them in one process do not go together. So libdw, libcrypto and SQLite, which load what they find, find
// nothing.
#include <dlfcn.h>

extern "C" {

void* dlopen(const char* /*file*/, int /*mode*/) noexcept {
  return nullptr;
}
void* dlsym(void* /*handle*/, const char* /*name*/) noexcept {
  return nullptr;
}
int dlclose(void* /*handle*/) noexcept {
  return -1;
}
char* dlerror() noexcept {
  static char text[] = "a statically linked program loads no libraries";
  return text;
}
int dladdr(const void* /*address*/, Dl_info* /*info*/) noexcept {
  return 0;
}
}
