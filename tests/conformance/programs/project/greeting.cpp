#include "greeting.h"

std::string greeting(const std::string& name) {
  return "hello, " + name;
}
