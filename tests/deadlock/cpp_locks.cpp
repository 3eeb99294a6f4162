// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What std:: makes of locks.
#include "hang.h"

#include <future>
#include <mutex>
#include <shared_mutex>

namespace {

std::mutex red, blue;
std::shared_mutex north, south;

FRAME void ant() {
  std::lock_guard<std::mutex> first(red);
  meet();
  std::lock_guard<std::mutex> second(blue);
}

FRAME void bee() {
  std::lock_guard<std::mutex> first(blue);
  meet();
  std::lock_guard<std::mutex> second(red);
}

void mutex() {
  expect(2);
  pthread_t first = START(ant);
  START(bee);
  joins(first);
}

FRAME void dog() {
  std::unique_lock<std::shared_mutex> first(north);
  meet();
  std::shared_lock<std::shared_mutex> second(south);
}

FRAME void eel() {
  std::unique_lock<std::shared_mutex> first(south);
  meet();
  std::unique_lock<std::shared_mutex> second(north);
}

void shared_mutex() {
  expect(2);
  pthread_t first = START(dog);
  START(eel);
  joins(first);
}

std::promise<int> promise;

FRAME void believer() {
  promise.get_future().get();
}

void future() {
  joins(START(believer));
}

std::once_flag once;

FRAME void late() {
  std::call_once(once, [] { joins(START(late)); });
}

void call_once() {
  late();
}

}  // namespace

int main(int argc, char** argv) {
  static const scenario scenarios[] = {
      {"mutex", mutex}, {"shared_mutex", shared_mutex}, {"future", future}, {"call_once", call_once}};
  return CHOOSE(scenarios, argc, argv);
}
