// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * Owns the folder that somebody records into, and wants the trace: puts files and links of its own in the place of the
 * names it is given as soon as they appear; FOLDER in place of the names: puts a link in the place of the folder itself
 * when the next name appears. Usage: folder_owner FOLDER NAME..., as the folder's owner. SIGTERM ends it: with 0, or
 * with 1 where somebody else has written to a file of its own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 64
#define BAIT "bait"

static int bait[FILES];
static unsigned int made;

static volatile sig_atomic_t ended;

static void end(int number) {
  (void)number;
  ended = 1;
}

/* Readable to all, and kept open: what is written to it later is seen, whatever its name is then. */
static const char* new_bait(void) {
  static char name[32];
  int fd;

  snprintf(name, sizeof(name), ".bait%u", made);
  fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
  if (fd < 0) return NULL;
  (void)!write(fd, BAIT, sizeof(BAIT));
  if (bait[made % FILES] > 0) close(bait[made % FILES]);
  bait[made++ % FILES] = fd;
  return name;
}

static int is_bait(const struct stat* status) {
  struct stat own;

  for (int i = 0; i < FILES; i++)
    if (bait[i] > 0 && !fstat(bait[i], &own) && own.st_ino == status->st_ino) return 1;
  return 0;
}

/* Whether something stands there that is not ours. */
static int is_prey(const char* name) {
  struct stat status;

  return !lstat(name, &status) && S_ISREG(status.st_mode) && !is_bait(&status);
}

static void swap(const char* name, unsigned int way) {
  char aside[64];

  snprintf(aside, sizeof(aside), ".aside%u", made);
  if (!strchr(name + 2, '.')) /* what is finished is moved only, so that it can be looked at */
    way |= 1;
  switch (way % 4) {
    case 0: /* ours in its place */
      (void)!rename(new_bait(), name);
      break;
    case 1: /* what is there aside, ours there */
      (void)!rename(name, aside);
      (void)!link(new_bait(), name);
      break;
    case 2: /* a link to ours */
      (void)!unlink(name);
      (void)!symlink(new_bait(), name);
      break;
    case 3: /* both exchange their names */
      (void)!renameat2(AT_FDCWD, new_bait(), AT_FDCWD, name, RENAME_EXCHANGE);
      break;
  }
}

/* The folder itself: aside, and a link to another one in its place. */
static void swap_folder(const char* folder) {
  char aside[4096];

  snprintf(aside, sizeof(aside), "%s.aside%u", folder, made++);
  if (rename(folder, aside) == 0) (void)!symlink("other", folder);
}

int main(int argc, char** argv) {
  unsigned int way = getpid();
  int stolen = 0;

  if (argc < 3 || chdir(argv[1])) return 2;
  signal(SIGTERM, end);
  while (!ended) {
    if (!strcmp(argv[2], "FOLDER")) {
      if (is_prey(argv[3])) swap_folder(argv[1]);
      continue;
    }
    for (int i = 2; i < argc; i++)
      if (is_prey(argv[i])) swap(argv[i], way++);
  }
  for (int i = 0; i < FILES; i++) {
    struct stat status;

    if (bait[i] > 0 && !fstat(bait[i], &status) && status.st_size != sizeof(BAIT)) stolen = 1;
  }
  return stolen;
}
