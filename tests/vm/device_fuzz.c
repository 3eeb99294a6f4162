// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * Random input for /dev/uscope: device_fuzz CALLS [SEED]. Commands right and wrong, sizes, fields and pointers of every
 * kind (unmapped, read-only, kernel addresses, small valid memory), tables sorted and damaged, mappings of every
 * offset, reads, polls; the device is closed and opened again now and then. What the kernel answers is counted and not
 * judged, except that the program must get through; whether the kernel bore it is seen in its log. Hooks are attached
 * too, so that what was put into the module is walked by.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uscope/device.h"

#define ROWS 64

static uint64_t state;

static uint64_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x2545f4914f6cdd1dull;
}

static char* memory; /* two pages, the second one read-only */
static char* mapped; /* of the device */
static size_t mapped_bytes;

static uint64_t any_number(void) {
  static const uint64_t numbers[] = {0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     8,
                                     63,
                                     64,
                                     512,
                                     4095,
                                     4096,
                                     65535,
                                     65536,
                                     1u << 20,
                                     1u << 26,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x100000000ull,
                                     0x7ffffffff000ull,
                                     0x800000000000ull,
                                     0xffff888000000000ull,
                                     0xffffffff81000000ull,
                                     ~0ull};

  return draw() % 4 ? numbers[draw() % (sizeof(numbers) / sizeof(numbers[0]))] : draw();
}

static uint64_t any_pointer(void) {
  switch (draw() % 6) {
    case 0:
      return (uintptr_t)memory + draw() % 4096;
    case 1:
      return (uintptr_t)memory + 4096 - draw() % 64;
    case 2:
      return mapped ? (uintptr_t)mapped + draw() % mapped_bytes : 0;
    default:
      return any_number();
  }
}

/* A right start, changed in one place now and then. */
static void fill_start(struct usc_device_start* start) {
  memset(start, 0, sizeof(*start));
  start->size = sizeof(*start);
  start->config.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
  start->config.scope.mode = 1 + draw() % 4;
  start->config.scope.budget = 1 + draw() % 1024;
  start->config.verify_every = draw() % 3;
  start->config.target.kinds = draw() % 2 ? USC_TARGET_LAUNCH : 1u << draw() % 5;
  start->config.target.follow = draw() % 16 ? draw() % 2 : (uint32_t)draw();
  memset(start->config.calls[USC_CALLS_NATIVE], 0xff, sizeof(start->config.calls[USC_CALLS_NATIVE]));
  start->ring_bytes = 1u << 16;
  start->rows = 1u << 12;
  start->index_entries = 1u << 12;
  start->rules = 1u << 8;
  if (draw() % 4 == 0) ((uint32_t*)start)[draw() % (sizeof(*start) / 4)] = (uint32_t)any_number();
}

static struct usc_row rows[ROWS];
static uint32_t row_index[ROWS];
static struct usc_rule rules[ROWS];

/* A sound table; damaged in one place half the time. */
static void fill_table(struct usc_device_table* table) {
  uint32_t i, count = 2 + (uint32_t)(draw() % (ROWS - 2));

  memset(table, 0, sizeof(*table));
  table->size = sizeof(*table);
  for (i = 0; i < count; i++) {
    rows[i].offset = 4096 + i * 8;
    rows[i].rule = draw() % 2 ? USC_RULE_COMPACT(USC_RULE_SP + draw() % 2, draw() % 64, draw() % 8)
                              : (draw() % 2 ? USC_RULE_SHARED_NUMBER(draw() % ROWS) : (uint32_t)(draw() % 6));
    if (USC_RULE_KIND(rows[i].rule) == USC_RULE_SHARED) rows[i].rule = USC_RULE_SHARED_NUMBER(draw() % ROWS);
  }
  rows[count - 1].rule = USC_RULE_NONE;
  for (i = 0; i < ROWS; i++) ((uint64_t*)&rules[i])[draw() % (sizeof(rules[i]) / 8)] = draw();
  row_index[0] = 0;
  row_index[1] = count - 1;
  table->rows = (uintptr_t)rows;
  table->index = (uintptr_t)row_index;
  table->rules = (uintptr_t)rules;
  table->row_count = count;
  table->index_count = 2;
  table->rule_count = ROWS;
  table->text_start = 4096;
  table->text_end = rows[count - 1].offset;
  switch (draw() % 8) {
    case 0:
      rows[draw() % count].offset = (uint32_t)any_number();
      break;
    case 1:
      row_index[draw() % 2] = (uint32_t)any_number();
      break;
    case 2:
      ((uint32_t*)table)[draw() % (sizeof(*table) / 4)] = (uint32_t)any_number();
      break;
    case 3:
      table->rows = any_pointer();
      break;
    default:
      break;
  }
}

static uint64_t functions[64]; /* addresses of the kernel's */
static size_t function_count;
static struct usc_probe probes[4];
static struct usc_device_place places[16];

/* Some of those that ftrace knows of are among them. */
static void find_functions(void) {
  FILE* symbols = fopen("/proc/kallsyms", "r");
  char line[512], name[256], type;
  unsigned long address;

  while (symbols && function_count < 64 && fgets(line, sizeof(line), symbols))
    if (sscanf(line, "%lx %c %255s", &address, &type, name) == 3 && type == 'T' &&
        (!strncmp(name, "vfs_", 4) || !strncmp(name, "ksys_", 5) || !strncmp(name, "_raw_", 5)))
      functions[function_count++] = address;
  if (symbols) fclose(symbols);
}

/* A sound plan; damaged in one place half the time. */
static void fill_probes(struct usc_device_probes* request) {
  size_t i, k;

  memset(request, 0, sizeof(*request));
  memset(probes, 0, sizeof(probes));
  memset(places, 0, sizeof(places));
  request->size = sizeof(*request);
  request->count = 1 + (uint32_t)(draw() % 4);
  request->place_count = request->count + (uint32_t)(draw() % 4);
  request->probes = (uintptr_t)probes;
  request->places = (uintptr_t)places;
  for (i = 0; i < request->count; i++) {
    probes[i].kind = (uint32_t)i + 1;
    probes[i].source = USC_SOURCE_KFUNCTION;
    probes[i].arguments = (uint8_t)(draw() % 7);
    if (draw() % 2) probes[i].role = USC_PROBE_WITH_RETURN;
    if (probes[i].role) probes[i].result = 8;
    for (k = 0; k < probes[i].arguments; k++) {
      probes[i].argument[k].from = (uint8_t)(draw() % 2 ? USC_FROM_REGISTER : USC_FROM_MEMORY);
      probes[i].argument[k].reg = (uint8_t)(draw() % USC_PROBE_REGISTERS);
      probes[i].argument[k].bytes = 8;
      if (probes[i].argument[k].from == USC_FROM_MEMORY) probes[i].argument[k].offset = (int64_t)any_number();
      if (draw() % 2) probes[i].argument[k].text = USC_TEXT_POINTED;
    }
  }
  for (i = 0; i < request->place_count; i++) {
    places[i].address = function_count ? functions[draw() % function_count] : any_number();
    places[i].probe = (uint32_t)(draw() % request->count);
  }
  switch (draw() % 8) {
    case 0:
      ((uint32_t*)probes)[draw() % (sizeof(probes) / 4)] = (uint32_t)any_number();
      break;
    case 1:
      ((uint32_t*)places)[draw() % (sizeof(places) / 4)] = (uint32_t)any_number();
      break;
    case 2:
      ((uint32_t*)request)[draw() % (sizeof(*request) / 4)] = (uint32_t)any_number();
      break;
    case 3:
      places[0].address = any_number();
      break;
    default:
      break;
  }
}

/* Numbers below 64 as serials, and as the inodes of keys; now and then a buffer or a count that is none. */
static void fill_files(struct usc_device_files* request) {
  static union {
    uint32_t serials[64];
    struct usc_file_key keys[64];
  } named;
  size_t i;

  memset(&named, 0, sizeof(named));
  request->count = draw() % 8 ? 1 + (uint32_t)(draw() % 64) : (uint32_t)any_number();
  request->buffer = draw() % 8 ? (uintptr_t)&named : any_pointer();
  if (draw() % 2)
    for (i = 0; i < 64; i++) named.serials[i] = (uint32_t)(draw() % 64);
  else
    for (i = 0; i < 64; i++) named.keys[i].ino = draw() % 64;
}

static void fill_target(struct usc_device_target* target) {
  static const char* const names[] = {"sh", "bash", "device_fuzz", "stress-guest", "", "a/b"};

  memset(target, 0, sizeof(*target));
  target->size = sizeof(*target);
  target->kind = draw() % 8 ? 2u << draw() % 3 : (uint32_t)any_number();
  if (target->kind == USC_TARGET_APP) {
    strcpy(target->name, names[draw() % 6]);
    if (draw() % 8 == 0) memset(target->name, 'n', draw() % 2 ? 255 : 256);
  } else {
    target->value = draw() % 2 ? (uint64_t)(draw() % 2 ? getpid() : getppid()) : any_number();
  }
}

static long right_call(int device) {
  union {
    uint32_t size;
    struct usc_device_version version;
    struct usc_device_start start;
    struct usc_device_table table;
    struct usc_device_file file;
    struct usc_device_file_key key;
    struct usc_device_reserve reserve;
    struct usc_device_launch launch;
    struct usc_device_open_calls calls;
    struct usc_device_stats stats;
    struct usc_device_losses losses;
    struct usc_device_target target;
    struct usc_device_mappings mappings;
    struct usc_device_probes probes;
    struct usc_device_attached attached;
    struct usc_device_stack stack;
    struct usc_device_rows rows;
    struct usc_device_files files;
  } r;

  memset(&r, 0, sizeof(r));
#define CALL(name, command) (r.name.size = sizeof(r.name), ioctl(device, command, &r.name))
  switch (draw() % 22) {
    case 0:
      return CALL(version, USC_DEVICE_VERSION);
    case 1:
      fill_start(&r.start);
      return ioctl(device, USC_DEVICE_START, &r.start);
    case 2:
    case 3:
      fill_table(&r.table);
      return ioctl(device, USC_DEVICE_TABLE, &r.table);
    case 4:
      r.file.file = draw() % 2 ? draw() % 64 : (uint32_t)any_number();
      r.file.table = draw() % 2 ? draw() % 8 : (uint32_t)any_number();
      r.file.state = draw() % 8;
      r.file.classes = draw() % 5;
      return CALL(file, USC_DEVICE_FILE);
    case 5:
      r.key.address = any_pointer();
      return CALL(key, USC_DEVICE_FILE_KEY);
    case 6:
      r.reserve.key.ino = draw() % 64;
      return CALL(reserve, USC_DEVICE_RESERVE);
    case 7:
      r.launch.pid = draw() % 2 ? getpid() : (int)any_number();
      return CALL(launch, USC_DEVICE_LAUNCH);
    case 8:
      return ioctl(device, USC_DEVICE_ATTACH, 0);
    case 9:
      return ioctl(device, draw() % 2 ? USC_DEVICE_DETACH : USC_DEVICE_CLOSE_ENTRIES, 0);
    case 10:
      r.calls.capacity = draw() % 2 ? 32 : (uint32_t)any_number();
      r.calls.before_ns = any_number();
      r.calls.buffer = any_pointer();
      return CALL(calls, USC_DEVICE_OPEN_CALLS);
    case 11:
      r.stats.cpu = (uint32_t)any_number();
      return CALL(stats, USC_DEVICE_STATS);
    case 12:
      fill_target(&r.target);
      return ioctl(device, USC_DEVICE_TARGET, &r.target);
    case 13:
      return ioctl(device, USC_DEVICE_ADOPT, 0);
    case 14:
      r.mappings.pid = draw() % 2 ? getppid() : draw() % 2 ? getpid() : (int)any_number();
      return CALL(mappings, USC_DEVICE_MAPPINGS);
    case 15:
      r.attached.capacity = draw() % 2 ? 16 : (uint32_t)any_number();
      r.attached.buffer = any_pointer();
      return CALL(attached, USC_DEVICE_ATTACHED);
    case 16:
      return draw() % 2 ? CALL(stack, USC_DEVICE_STACK) : CALL(stack, USC_DEVICE_RESEND);
    case 17:
      r.rows.cpu = draw() % 2 ? draw() % 4 : (uint32_t)any_number();
      r.rows.buffer = any_pointer();
      return CALL(rows, USC_DEVICE_ROWS);
    case 18:
    case 19: /* what case 6 has reserved and case 4 has published, or anything */
      fill_files(&r.files);
      return draw() % 2 ? CALL(files, USC_DEVICE_FORGET) : CALL(files, USC_DEVICE_RELEASE);
    case 20:
      fill_probes(&r.probes);
      return CALL(probes, USC_DEVICE_PROBES);
    default:
      r.losses.capacity = draw() % 2 ? 16 : (uint32_t)any_number();
      r.losses.buffer = any_pointer();
      return CALL(losses, USC_DEVICE_LOSSES);
  }
}

static long map_something(int device) {
  static const size_t sizes[] = {4096, 65536, 65536 + 4096, 4096 * 3, 1u << 20, 1};
  const int protections[] = {PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC, PROT_NONE};
  size_t bytes = sizes[draw() % 6], i;
  off_t offset = (off_t)(draw() % 2 ? draw() % 40 * 4096 : any_number() & ~4095ull);
  char* place = mmap(NULL, bytes, protections[draw() % 4], draw() % 8 ? MAP_SHARED : MAP_PRIVATE, device, offset);

  if (place == MAP_FAILED) return -1;
  if (mapped) munmap(mapped, mapped_bytes);
  mapped = place;
  mapped_bytes = bytes;
  /* The control page, with any tail: only the reader is harmed. */
  if (bytes == 4096 && !mprotect(place, bytes, PROT_READ | PROT_WRITE))
    for (i = 0; i < bytes / 8; i++) ((volatile uint64_t*)place)[i] = any_number();
  return 0;
}

static long wrong_call(int device) {
  memset(memory, (int)draw(), 512);
  if (draw() % 2) *(uint32_t*)memory = (uint32_t)(draw() % 256);
  return ioctl(device, draw() % 2 ? _IOC(draw() % 4, 'u', 0x70 + draw() % 24, draw() % 600) : (unsigned long)draw(),
               any_pointer());
}

/* A traced command, for the hooks to have something to do, with whatever tables and files are there by now. */
static void run_something(int device) {
  struct usc_device_launch launch = {.size = sizeof(launch)};
  struct usc_device_mappings mappings = {.size = sizeof(mappings), .pid = getppid()};
  struct usc_device_target target;
  struct usc_device_probes plan;
  int i;
  struct usc_device_start start;
  int gate[2];
  pid_t child;
  char byte;

  if (pipe(gate)) return;
  child = fork();
  if (!child) {
    close(gate[1]);
    if (read(gate[0], &byte, 1) < 0) _exit(1);
    execl("/bin/sh", "sh", "-c", "/bin/true; exec /bin/true", (char*)NULL);
    _exit(1);
  }
  fill_start(&start);
  ioctl(device, USC_DEVICE_START, &start);
  launch.pid = child;
  if (draw() % 2) ioctl(device, USC_DEVICE_LAUNCH, &launch);
  for (i = 0; i < 3; i++) {
    fill_target(&target);
    ioctl(device, USC_DEVICE_TARGET, &target);
  }
  /* To attach to functions takes the kernel's code to be changed, and its tasks to be waited for. */
  if (draw() % 4 == 0) {
    fill_probes(&plan);
    ioctl(device, USC_DEVICE_PROBES, &plan);
  }
  ioctl(device, USC_DEVICE_ATTACH, 0);
  ioctl(device, USC_DEVICE_ADOPT, 0);
  ioctl(device, USC_DEVICE_MAPPINGS, &mappings);
  close(gate[0]);
  close(gate[1]);
  if (child > 0) waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
  unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 0) : 100000, i, good = 0;
  int device = -1;
  uint64_t buffer;

  state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
  state = state * 0x9e3779b97f4a7c15ull | 1;
  memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  find_functions();
  if (memory == MAP_FAILED || mprotect(memory + 4096, 4096, PROT_READ)) return 1;
  for (i = 0; i < calls; i++) {
    struct pollfd ready;

    if (device < 0) {
      device = open(USC_DEVICE_PATH, O_RDWR | O_NONBLOCK | O_CLOEXEC);
      if (device < 0) {
        perror(USC_DEVICE_PATH);
        return 1;
      }
    }
    ready = (struct pollfd){device, POLLIN, 0};
    switch (draw() % 16) {
      case 0:
        good += read(device, draw() % 4 ? (void*)&buffer : (void*)(uintptr_t)any_pointer(),
                     draw() % 4 ? 8 : draw() % 64) > 0;
        break;
      case 1:
        good += poll(&ready, 1, 0) > 0;
        break;
      case 2:
        good += map_something(device) == 0;
        break;
      case 3:
      case 4:
      case 5:
        good += wrong_call(device) == 0;
        break;
      default:
        good += right_call(device) == 0;
    }
    if (draw() % 256 == 0) run_something(device);
    if (draw() % 64 == 0) {
      if (mapped) munmap(mapped, mapped_bytes);
      mapped = NULL;
      close(device);
      device = -1;
    }
  }
  printf("%lu calls, %lu of them answered with success\n", calls, good);
  return good > calls / 100 ? 0 : 1;
}
