#include <cstdio>

#include "greeting.h"

int main() {
  std::puts(greeting("world").c_str());
  return 0;
}
