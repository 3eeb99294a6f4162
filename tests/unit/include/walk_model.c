/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
#ifdef __clang__ /* core's records have an array at their end, and something behind them */
#pragma clang diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"
#endif

#include "walk_model.h"

#include <stdbool.h>
#include <string.h>

#define __noinline __attribute__((noinline, unused))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline, unused))
#define barrier() __asm__ volatile("" ::: "memory")
#define USC_SUBPROGRAM static __noinline
#define USC_HOT_SUBPROGRAM static __noinline
#define USC_STAYS_BELOW(number, bound) true
#define USC_PLAIN_FRAMES 16
#define STRETCH_MOST_BYTES BLOCK_MOST_BYTES /* so that far words are compared by the other way, too */
#define usc_loop(count, body, context)                     \
  do {                                                     \
    for (__u32 usc_i = 0, n = (count); usc_i < n; usc_i++) \
      if ((body)(usc_i, context)) break;                   \
  } while (0)

/* What is looked at of the kernel's. */
struct file {
  int unused;
};
struct vm_area_struct {
  __u64 vm_start, vm_end, vm_flags, vm_pgoff;
  struct file* vm_file;
};
struct task_struct {
  int tgid;
  unsigned long sas_ss_sp, sas_ss_size;
  struct {
    unsigned long sig[1];
  } blocked;
};
struct pt_regs {
  unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};
#define VM_WRITE 2ull
#define VM_EXEC 4ull
#define VM_MAYSHARE 0x80ull
#define MM_FIELD(task, field) 0
#define TASK_FIELD(task, field) ((task)->field)
#define VMA_SPACE(vma) 1
#define SERIAL(of) (&last_serial)
#define with_vma(address, callback, context) \
  with_model_vma(address, (long (*)(struct task_struct*, struct vm_area_struct*, void*))(callback), context)

static __u32 last_serial;
static __u64 hold_until;

/* The rest of what port.h declares is not used. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wcast-function-type"
#include "uscope/core/port.h"

static struct usc_config config;
static long with_model_vma(__u64 address, long (*callback)(struct task_struct*, struct vm_area_struct*, void*),
                           void* context);
static inline const struct usc_rule* usc_rule_at(void* tables, __u32 number);
#include "uscope/core/walk/stacks.h"

struct walk_model walk_model;
static struct pt_regs regs;
static struct task_struct task;
static struct task_entry entry;
static struct file files[WALK_FILES];
static struct usc_file_entry file_entries[WALK_FILES];
static struct cpu_state cpu;
static struct walk_task asked_task;

#define USC_SLOT(function, array, type, count, per_cpu)       \
  static type array[(per_cpu) == USC_QUESTION ? 1 : (count)]; \
  static __always_inline type* function(__u32 number) {       \
    return &array[number];                                    \
  }
#include "uscope/core/slots.def"
#undef USC_SLOT

static struct task_entry* entry_of(struct task_struct* of) {
  return (void)of, &entry;
}
static __u32 current_cpu(void) {
  return 0;
}
static struct task_struct* this_task(void) {
  return &task;
}
static __u64 now_ns(void) {
  return 1;
}
static struct pt_regs* user_regs(struct task_struct* of) {
  return (void)of, &regs;
}
static struct cpu_state* cpu_state_of(__u32 number) {
  return (void)number, &cpu;
}
static __u32 first_stack_now(void) {
  return 0;
}

static struct usc_file_entry* file_slot_at(__u32 file) {
  static struct usc_file_entry none;

  return file >= WALK_FILE_SERIAL(0) && file < WALK_FILE_SERIAL(WALK_FILES) ? &file_entries[file - WALK_FILE_SERIAL(0)]
                                                                            : &none;
}

static void* tables_of(__u32 file) {
  return &walk_model.files[file - WALK_FILE_SERIAL(0)];
}

static inline const struct usc_row* usc_row_at(void* tables, __u32 number) {
  const struct walk_file* file = tables;

  return number < file->numbers.row_count ? &file->rows[number] : 0;
}

static inline const __u32* usc_index_at(void* tables, __u32 number) {
  return &((const struct walk_file*)tables)->index[number];
}
static inline const struct usc_rule* usc_rule_at(void* tables, __u32 number) {
  return (void)tables, (void)number, (const struct usc_rule*)0;
}

static int read_word(struct scratch* s, __u64 address, __u64* value) {
  const __u64 at = address - walk_model.stack_base;

  (void)s;
  if (at > walk_model.stack_words * 8ull - 8 || at % 8) return -1;
  memcpy(value, (const char*)walk_model.stack + at, sizeof(*value));
  return 0;
}

static bool open_stretch(struct scratch* s, __u64 address, __u32 bytes) {
  (void)s;
  return address - walk_model.stack_base <= walk_model.stack_words * 8ull &&
         bytes <= walk_model.stack_words * 8ull - (address - walk_model.stack_base);
}

static int stretch_word(struct scratch* s, __u32 at, __u64* value) {
  return read_word(s, s->start_sp + at * 8ull, value);
}
static void close_stretch(void) {}
static long read_user(void* to, __u32 bytes, const void* from) {
  const __u64 address = (__u64)from, at = address - (asked_task.pc - 5), word = (address - (asked_task.sp - 8)) / 8;
  const __u64 call = 0xe8ull << 24;
  const __s32 distance = asked_task.called ? asked_task.called - asked_task.return_address : 0;

  if (asked_task.pc && at + bytes <= 7) {
    for (__u32 i = 0; i < bytes; i++) {
      if (asked_task.code[at + i] < 0) return -1;
      ((__u8*)to)[i] = asked_task.code[at + i];
    }
    return 0;
  }
  if (asked_task.pc && bytes == 8 && word < 4) return memcpy(to, &asked_task.stack[word], bytes), 0;
  if (asked_task.pc && address + bytes == asked_task.return_address)
    return memcpy(to, bytes == 8 ? (const void*)&call : (const void*)&distance, bytes), 0;
  if (walk_model.copy_is_interrupted) walk_model.copy_is_interrupted();
  return (void)to, (void)bytes, (void)from, -1;
}
static bool same_pages(const char* a, const char* b) {
  return (void)a, (void)b, false;
}
static void keep_page(char* to, const char* from) {
  (void)to, (void)from;
}

static long with_model_vma(__u64 address, long (*callback)(struct task_struct*, struct vm_area_struct*, void*),
                           void* context) {
  const __u64 number = (address - WALK_TEXT) / WALK_FILE_BYTES;
  struct vm_area_struct vma = {
      .vm_start = WALK_TEXT + number * WALK_FILE_BYTES,
      .vm_end = WALK_TEXT + (number + 1) * WALK_FILE_BYTES,
      .vm_flags = VM_EXEC,
      .vm_file = number < WALK_FILES ? &files[(number + walk_model.first_file) % WALK_FILES] : 0};

  if (address >= WALK_TEXT && number <= WALK_FILES) callback(&task, &vma, context);
  return 0;
}

static bool read_memory_key(struct file* file, struct usc_file_key* key) {
  return (void)file, (void)key, false;
}
static void read_file_key(struct file* file, struct usc_file_key* key) {
  memset(key, 0, sizeof(*key));
  key->ino = WALK_FILE_SERIAL(file - files);
}
static __u32 known_file(const struct usc_file_key* key) {
  return key->ino;
}
static int enter_file(const struct usc_file_key* key, __u32 serial) {
  return (void)key, (void)serial, -1;
}
static void drop_file(const struct usc_file_key* key) {
  (void)key;
}
static bool may_meet_files(void) {
  return true;
}
static bool has_probes_in_files(void) {
  return false;
}
static bool meets_probes(struct task_struct* of) {
  return (void)of, asked_task.meets_probes;
}
static __u64 copied_instruction(struct task_struct* of, __u64* probed) {
  *probed = asked_task.probed;
  return (void)of, asked_task.copy;
}
static __u32 file_links(struct file* file) {
  return (void)file, 1;
}
static bool has_lease(struct file* file) {
  return (void)file, false;
}
static __u32 path_components(struct task_struct* of, struct file* file, struct text_scratch* text) {
  return (void)of, (void)file, (void)text, 0;
}
static int was_announced(const struct announced_key* key) {
  return (void)key, 1;
}
static void remember_announced(const struct announced_key* key) {
  (void)key;
}
static bool ring_is_half_full(__u32 number) {
  return (void)number, false;
}
static void count_process_loss(__u32 cause, __u32 process) {
  (void)cause, (void)process;
}

static int send_record(struct usc_record* head, __u16 type, __u32 bytes, __u32 serial, __u64 now, bool urgent) {
  (void)bytes, (void)serial, (void)now, (void)urgent;
  if (type == USC_RECORD_STACK) walk_model_told((const struct usc_stack*)head);
  if (type == USC_RECORD_SAMPLE) walk_model_copied((const struct usc_sample*)head);
  return 0;
}

void walk_model_reset(void) {
  memset(&walk_model, 0, sizeof(walk_model));
  memset(&entry, 0, sizeof(entry));
  memset(&cpu, 0, sizeof(cpu));
#define USC_SLOT(function, array, type, count, per_cpu) memset(array, 0, sizeof(array));
#include "uscope/core/slots.def"
#undef USC_SLOT
}

__u32 walk_model_take(void) {
  __u32 i;

  config.scope.mode = walk_model.mode;
  config.scope.budget = walk_model.budget;
  regs.ip = walk_model.pc;
  regs.sp = walk_model.rsp;
  regs.bp = walk_model.rbp;
  entry.mm = 1;
  entry.serial = entry.process = entry.image = 1;
  entry.exe_file = walk_model.exe_file;
  for (i = 0; i < WALK_FILES; i++) {
    file_entries[i].rows = walk_model.files[i].numbers;
    file_entries[i].state = USC_FILE_READY;
    file_entries[i].serial = WALK_FILE_SERIAL(i);
    file_entries[i].classes = walk_model.files[i].classes;
  }
  return take_stack(&regs, (struct place){walk_model.pc, walk_model.behind}, &entry, 0);
}

struct walk_place walk_model_place(const struct walk_task* of) {
  struct place place;

  asked_task = *of;
  regs.orig_ax = of->orig_ax;
  regs.ip = of->pc;
  regs.sp = of->sp;
  regs.ax = of->registers[0];
  regs.cx = of->registers[1];
  regs.dx = of->registers[2];
  regs.bx = of->registers[3];
  regs.bp = of->registers[5];
  regs.si = of->registers[6];
  regs.di = of->registers[7];
  regs.r8 = of->registers[8];
  regs.r9 = of->registers[9];
  regs.r10 = of->registers[10];
  regs.r11 = of->registers[11];
  regs.r12 = of->registers[12];
  regs.r13 = of->registers[13];
  regs.r14 = of->registers[14];
  regs.r15 = of->registers[15];
  entry.met_probe = (struct met_probe){of->met.pc, of->met.sp, of->met.code};
  place = place_now(&regs, &entry, !of->is_in_program);
  asked_task.pc = 0;
  return (struct walk_place){place.pc, place.behind};
}

__u32 walk_model_take_inside(void) {
  __u32 id;

  cpu.nest++;
  id = walk_model_take();
  cpu.nest--;
  return id;
}

__u32 walk_model_interrupt(__u32 serial) {
  __u32 id;

  entry.serial = serial;
  id = take_stack(&regs, (struct place){walk_model.pc, walk_model.behind}, &entry, 0);
  entry.serial = 1;
  return id;
}

void walk_model_remap(void) {
  mappings_expire(1);
}
__u64 walk_model_memo_hits(void) {
  return cpu.stats.memo_hits;
}
__u64 walk_model_deferred(__u32 reason) {
  return cpu.stats.deferred[reason];
}
__u64 walk_model_lost(__u32 cause) {
  return cpu.stats.loss[cause];
}
