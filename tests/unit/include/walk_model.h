/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* One thread whose stacks core/walk takes, with a backend of plain memory. Core is C, the test is not. */
#ifndef USCOPE_WALK_MODEL_H
#define USCOPE_WALK_MODEL_H

#include "uscope/record.h"
#include "uscope/rows.h"
#include "uscope/scope.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WALK_FILES 3 /* files 1 …; what is mapped behind the last one has no file */
#define WALK_FILE_SERIAL(number) (USC_FILE_VDSO + 1 + (number))
#define WALK_FILE_BYTES 0x10000ull
#define WALK_TEXT 0x400000000000ull /* the first file's; the others follow, each of as many bytes */

struct walk_file {
  struct usc_row* rows;
  __u32* index;
  struct usc_file_rows numbers;
  __u32 classes;
};

/* What the thread and its memory are; may be changed between calls. */
struct walk_model {
  __u64 pc;
  __u64 rsp;
  __u64 rbp;
  __u32 behind;     /* it is at the instruction before pc */
  __u64 stack_base; /* its memory: words of `stack`, and no other can be read */
  __u64* stack;
  __u32 stack_words;
  __u32 exe_file;
  __u32 first_file; /* number of the file that is mapped first */
  __u32 mode;
  __u32 budget;
  struct walk_file files[WALK_FILES];
  void (*copy_is_interrupted)(void); /* called at each page of a copy */
};

extern struct walk_model walk_model;

/* Empties all caches. */
void walk_model_reset(void);
/* The stack of a call now. 0: none. */
__u32 walk_model_take(void);
struct walk_met {
  __u64 pc;
  __u64 sp;
  __u8 code;
};
/* A task as place_now() asks about it. */
struct walk_task {
  __u64 orig_ax;
  __u64 pc;
  int code[7]; /* the five bytes before pc, and two at it; less than 0: it cannot be read */
  __u64 sp;
  __u64 stack[4];       /* words, from the one below sp on */
  __u64 registers[16];  /* rax, rcx, rdx, rbx, -, rbp, rsi, rdi, r8 … r15 */
  __u64 return_address; /* behind a call; no other word points behind any */
  __u64 called;         /* where that call leads; 0: elsewhere */
  struct walk_met met;  /* the last hit of a probe of ours */
  __u32 is_in_program;
  __u32 meets_probes;
  __u64 copy; /* of a probed instruction, and where that is */
  __u64 probed;
};
struct walk_place {
  __u64 pc;
  __u32 behind;
};
struct walk_place walk_model_place(const struct walk_task* task);
/* The mappings change: nothing that is remembered holds. */
void walk_model_remap(void);
/* As if it had interrupted another walk. */
__u32 walk_model_take_inside(void);
/* From inside a walk: a probe that interrupts it, of a task with this serial; the thread's own is 1. */
__u32 walk_model_interrupt(__u32 serial);
__u64 walk_model_memo_hits(void);
__u64 walk_model_deferred(__u32 reason);
__u64 walk_model_lost(__u32 cause);

/* Supplied by the test: a stack is sent. */
void walk_model_told(const struct usc_stack* stack);
/* The same: a copy is sent. */
void walk_model_copied(const struct usc_sample* sample);

#ifdef __cplusplus
}
#endif

#endif
