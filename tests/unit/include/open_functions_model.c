/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
#ifdef __clang__ /* core's records have an array at their end, and something behind them */
#pragma clang diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"
#endif

#include "open_functions_model.h"

#include <stdbool.h>
#include <string.h>

#define __noinline __attribute__((noinline, unused))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline, unused))
#define barrier() __asm__ volatile("" ::: "memory")
#define usc_loop(count, body, context)              \
  do {                                              \
    for (__u32 usc_i = 0; usc_i < (count); usc_i++) \
      if ((body)(usc_i, context)) break;            \
  } while (0)

/* What is looked at of the kernel's. */
struct task_struct {
  unsigned long sas_ss_sp;
  unsigned long sas_ss_size;
};

/* The rest of what port.h declares is not used. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "uscope/core/probes/jumps.h"

_Static_assert(MODEL_USER_FUNCTIONS == OPEN_USER_FUNCTIONS, "as core has it");

struct model model;
static struct task_entry entry;
static struct task_struct task;
static struct cpu_state cpu;
static struct open_slot rooms[OPEN_FUNCTIONS];
static bool is_made[OPEN_FUNCTIONS];
static __u64 last_now;

static __u32 current_cpu(void) {
  return 0;
}

static struct task_struct* this_task(void) {
  task.sas_ss_sp = model.alternate_stack;
  task.sas_ss_size = model.alternate_bytes;
  return &task;
}

static __u64 now_ns(void) {
  return ++last_now;
}

static bool taken_by_question(const struct hit_room* room, __u32 serial, __u32 process, __u64 now) {
  (void)room, (void)serial, (void)process, (void)now;
  return false;
}

static bool keeps_hits(void) {
  return !model.is_brief;
}

// By a question, which takes them all: as hits without arguments.
static int tell_briefly(struct task_entry* t, const struct open_function* f, const struct told_end* end) {
  struct usc_hit hit = {.entry_ns = f->entry_ns, .image = f->image, .flags = USC_EVENT_NO_RESULT};

  (void)t;
  note_end(&hit, end);
  hit.head.time = end->now;
  hit.head.task = f->serial;
  model_told(&hit);
  return 0;
}

static struct task_entry* entry_of(struct task_struct* of) {
  (void)of;
  return &entry;
}

static struct cpu_state* cpu_state_of(__u32 number) {
  (void)number;
  return &cpu;
}

static void count_process_loss(__u32 cause, __u32 process) {
  (void)cause;
  (void)process;
}

static int send_record(struct usc_record* head, __u16 type, __u32 bytes, __u32 serial, __u64 now, bool urgent) {
  (void)bytes;
  (void)urgent;
  head->type = type;
  head->task = serial;
  head->time = now;
  model_told((const struct usc_hit*)head);
  return 0;
}

static struct open_slot* open_slot_at(struct task_entry* t, __u32 number, bool make) {
  if (!t->functions) return 0;
  if (make && model.has_memory) is_made[number] = true;
  return is_made[number] ? &rooms[number] : 0;
}

static void forget_open_functions(struct task_entry* t) {
  (void)t;
  memset(is_made, 0, sizeof(is_made));
  model.forgotten++;
}

void model_reset(void) {
  memset(&entry, 0, sizeof(entry));
  memset(&cpu, 0, sizeof(cpu));
  memset(is_made, 0, sizeof(is_made));
  memset(&model, 0, sizeof(model));
  model.serial = 7;
  model.is_traced = model.has_memory = 1;
}

static struct task_entry* the_thread(void) {
  entry.serial = model.serial;
  entry.state = model.is_traced ? USC_TRACED : USC_UNTRACED;
  return &entry;
}

void model_enter(__u8 source, __u32 number, __u64 sp, __u32 id) {
  struct function_begin begin = {.sp = sp, .entry_ns = now_ns(), .image = id, .number = number};
  static struct hit_room room;

  memset(&room, 0, sizeof(room));
  room.hit.source = source;
  room.hit.image = id;
  room.hit.entry_ns = begin.entry_ns;
  room.hit.flags = USC_EVENT_NO_RESULT;
  if (model.is_brief)
    keep_function_either(the_thread(), 0, &begin, source == USC_SOURCE_KFUNCTION, true);
  else
    keep_function(the_thread(), &room, number, sp);
}

void model_return(__u8 source, __u8 result_is, __u32 number, __u64 sp, __u64 result) {
  struct usc_probe probe = {.source = source, .role = USC_PROBE_WITH_RETURN, .result = result_is};

  if (model.is_brief)
    core_function_returned_briefly(the_thread(), number, &probe, sp, result, source == USC_SOURCE_KFUNCTION);
  else
    core_function_returned(the_thread(), number, &probe, sp, result, probe.source == USC_SOURCE_KFUNCTION);
}

static long read_user(void* to, __u32 bytes, const void* from) {
  model.reads++;
  if (!model.word_can_be_read || (__u64)from != model.word_at) return -14;
  memcpy(to, &model.word, bytes);
  return 0;
}

static const struct usc_jump* indirect_jump_at(__u32 number) {
  return number == MODEL_JUMP ? &model.jump : 0;
}

void model_jump(__u32 number, __u64 sp, enum usc_jump_goes goes) {
  if (model.is_brief)
    core_function_jumped_briefly(the_thread(), number, sp, goes, 0);
  else
    core_function_jumped(the_thread(), number, sp, goes, 0);
}

void model_jump_indirectly(__u32 number, __u64 sp, const __u64* registers) {
  struct jump_hit hit = {.jump = &model.jump, .registers = registers, .jump_number = MODEL_JUMP, .number = number};
  bool may_end = model.is_brief ? may_end_at(the_thread(), sp, true) : may_end_at(the_thread(), sp, false);

  model_jump(number, sp, may_end ? core_jump_goes(the_thread(), &hit, sp) : USC_JUMP_INSIDE);
}

void model_next_hit(void) {
  if (!the_thread()->unread.jump) return;
  if (model.is_brief)
    core_settle_jump(the_thread(), true);
  else
    core_settle_jump(the_thread(), false);
}

void model_exec(void) {
  the_thread();
  core_functions_exec(&task);
}

void model_exit(void) {
  the_thread();
  core_functions_exit(&task);
}

__u64 model_missed(void) {
  return cpu.stats.loss[USC_LOSS_PROBE_MISSED];
}

__u64 model_unread(void) {
  return cpu.stats.loss[USC_LOSS_JUMP_UNREAD];
}

__u64 model_now(void) {
  return last_now;
}

__u32 model_open(void) {
  return entry.open_functions[0];
}
