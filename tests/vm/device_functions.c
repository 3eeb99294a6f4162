// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * Hooks in functions of the kernel come and go while a program runs that is traced: device_functions ROUNDS NAME
 * <ADDRESSES Reads addresses (hexadecimal, one a line) of functions that ftrace knows of; in each round they are
 * attached to, every second one with its return, and detached again, while processes called NAME are traced: what they
 * do goes on, hooked or not. Prints how long the slowest attaching and detaching took. That the kernel bore it is seen
 * in its log.
 */
#define _GNU_SOURCE 1
#include <time.h>

#include "device_calls.h"

#define MOST 4096
#define MOST_SECONDS 60 /* far from what the slowest machine takes */

static struct usc_probe probes[2];
static struct usc_device_place places[MOST];

static double seconds(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint32_t read_places(void) {
  unsigned long long address;
  uint32_t count = 0;

  while (count < MOST && scanf("%llx", &address) == 1) {
    places[count].address = address;
    places[count].probe = count % 2;
    count++;
  }
  return count;
}

static int fail(const char* what, int error) {
  printf("FAILED %s: %s\n", what, strerror(error));
  return 1;
}

static int one_round(const char* name, uint32_t count, double* attaching, double* detaching) {
  struct usc_device_probes request = {.count = 2, .probes = (uintptr_t)probes, .places = (uintptr_t)places};
  struct usc_device_target target = {.kind = USC_TARGET_APP};
  int device = open(USC_DEVICE_PATH, O_RDWR | O_NONBLOCK | O_CLOEXEC), error;
  double began;

  if (device < 0) return fail(USC_DEVICE_PATH, errno);
  request.place_count = count;
  snprintf(target.name, sizeof(target.name), "%s", name);
  if ((error = start_session(device, USC_TARGET_APP))) return fail("START", error);
  if ((error = ASK(device, USC_DEVICE_TARGET, target))) return fail("TARGET", error);
  began = seconds();
  if ((error = ASK(device, USC_DEVICE_PROBES, request))) return fail("PROBES", error);
  if (request.refused) {
    printf("FAILED %llx was refused\n", (unsigned long long)request.refused);
    return 1;
  }
  if ((error = plain_request(device, USC_DEVICE_ATTACH))) return fail("ATTACH", error);
  if (seconds() - began > *attaching) *attaching = seconds() - began;
  if ((error = plain_request(device, USC_DEVICE_ADOPT))) return fail("ADOPT", error);
  usleep(100000);
  began = seconds();
  /* By closing, too, as of a tracer that has been killed. */
  if (rand() % 2 && (error = plain_request(device, USC_DEVICE_DETACH))) return fail("DETACH", error);
  close(device);
  if (seconds() - began > *detaching) *detaching = seconds() - began;
  return 0;
}

int main(int argc, char** argv) {
  double attaching = 0, detaching = 0;
  const int rounds = argc == 3 ? atoi(argv[1]) : 0;
  uint32_t count = read_places();
  int i;

  if (!rounds || !count) {
    fprintf(stderr, "usage: device_functions ROUNDS NAME <ADDRESSES\n");
    return 2;
  }
  for (i = 0; i < 2; i++) {
    probes[i].kind = (uint32_t)i + 1;
    probes[i].source = USC_SOURCE_KFUNCTION;
    probes[i].role = i ? USC_PROBE_WITH_RETURN : 0;
    probes[i].result = i ? 8 : 0;
  }
  for (i = 0; i < rounds; i++)
    if (one_round(argv[2], count, &attaching, &detaching)) return 1;
  printf("%u functions attached and detached %d times, in at most %.2f and %.2f s\n", count, rounds, attaching,
         detaching);
  return attaching < MOST_SECONDS && detaching < MOST_SECONDS ? 0 : 1;
}
