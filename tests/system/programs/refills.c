// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Loads libraries (versions.c) from files whose content changes, and calls entry() of each. usage: refills WHAT FILE...
 *   memory     each FILE in turn into one memfd, which is filled again after the library before was unloaded
 *   quickly    the same ten times over, without a pause in which somebody could look
 *   written    FILE, called; then a byte of it is written in place
 *   mapped     the same, through a shared mapping
 *   deleted    FILE, called; then its mode is changed, and it is deleted
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPAQUE(value) __asm__ volatile("" : : "r"(value) : "memory")
#define CHECK(condition)       \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)

static void* load(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  CHECK(library);
  long (*entry)(void) = dlsym(library, "entry");
  long result = entry();
  OPAQUE(result);
  return library;
}

static void fill(int memory, const char* path) {
  static char bytes[1 << 20];
  int file = open(path, O_RDONLY);
  ssize_t got = read(file, bytes, sizeof(bytes));
  CHECK(got > 0 && got < (ssize_t)sizeof(bytes));
  CHECK(!ftruncate(memory, 0) && pwrite(memory, bytes, got, 0) == got);
  close(file);
}

static void refill(int count, char** files, int pause_us) {
  char path[64];
  int memory = memfd_create("plugin", 0);
  CHECK(memory >= 0);
  snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
  for (int i = 0; i < count; i++) {
    fill(memory, files[i]);
    void* library = load(path);
    usleep(pause_us);
    dlclose(library);
  }
}

static void change_in_place(const char* path, int through_mapping) {
  void* library = load(path);
  struct stat status;
  int file = open(path, O_RDWR);
  CHECK(file >= 0 && !fstat(file, &status));
  usleep(200000); /* until it has been looked at */
  char last;
  CHECK(pread(file, &last, 1, status.st_size - 1) == 1);
  if (through_mapping) {
    char* bytes = mmap(0, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(bytes != MAP_FAILED);
    ((volatile char*)bytes)[status.st_size - 1] = last;
  } else {
    CHECK(pwrite(file, &last, 1, status.st_size - 1) == 1);
  }
  OPAQUE(library);
}

int main(int argc, char** argv) {
  CHECK(argc > 2);
  const char* what = argv[1];
  if (!strcmp(what, "memory")) {
    refill(argc - 2, argv + 2, 300000);
  } else if (!strcmp(what, "quickly")) {
    for (int i = 0; i < 10; i++) refill(argc - 2, argv + 2, 0);
  } else if (!strcmp(what, "deleted")) {
    load(argv[2]);
    CHECK(!chmod(argv[2], 0500) && !unlink(argv[2]));
    usleep(1500000); /* while it runs, the file can still be opened */
  } else {
    change_in_place(argv[2], !strcmp(what, "mapped"));
  }
  return 0;
}
