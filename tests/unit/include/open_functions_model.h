/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* One thread whose functions core/probes/open_functions.h pairs, with a backend of plain memory. Core is C, the test is
 * not. */
#ifndef USCOPE_OPEN_FUNCTIONS_MODEL_H
#define USCOPE_OPEN_FUNCTIONS_MODEL_H

#include "uscope/jumps.h"
#include "uscope/probes.h"
#include "uscope/record.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MODEL_USER_FUNCTIONS 256 /* OPEN_USER_FUNCTIONS */
#define MODEL_JUMP 5             /* the number of model.jump */

/* Of the one thread; what it says of memory may be changed between calls. */
struct model {
  __u64 alternate_stack;
  __u64 alternate_bytes;
  __u32 serial;
  int is_traced;
  int has_memory;
  int is_brief;  /* no hits are kept, as for a question that wants no more of a function than when and how */
  int forgotten; /* how often its functions were */
  /* An indirect jump, and the only word of memory. */
  struct usc_jump jump;
  __u64 word_at;
  __u64 word;
  int word_can_be_read;
  int reads; /* how often it was tried */
};

extern struct model model;

void model_reset(void);
/* `id` is told as the hit's image. */
void model_enter(__u8 source, __u32 number, __u64 sp, __u32 id);
void model_return(__u8 source, __u8 result_is, __u32 number, __u64 sp, __u64 result);
void model_jump(__u32 number, __u64 sp, enum usc_jump_goes goes);
/* At model.jump, with USC_JUMP_REGISTERS registers. */
void model_jump_indirectly(__u32 number, __u64 sp, const __u64* registers);
/* What a backend does before anything else at a hit. */
void model_next_hit(void);
void model_exec(void);
void model_exit(void);
__u64 model_missed(void);
__u64 model_unread(void);
__u64 model_now(void);  /* the last time that was told */
__u32 model_open(void); /* functions of the program */

/* Supplied by the test. */
void model_told(const struct usc_hit* hit);

#ifdef __cplusplus
}
#endif

#endif
