/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Unwind rows: what .eh_frame or .debug_frame says, in 8 bytes for each stretch of code, sorted by file offset, so that
 * a return address finds its row by bisection. A row holds from its offset up to the next row's. What 32 bits cannot
 * say is said by a shared rule of the same file. An index gives, for each USC_INDEX_BYTES of text, the row that holds
 * at the stretch's first byte. docs/adr/0002-unwind-rows.md gives the reasons and the limits.
 *
 * Offsets are file offsets (not ELF addresses): they follow from a mapping alone. Text above 4 GiB of a file has no
 * rows.
 */
#ifndef USCOPE_ROWS_H
#define USCOPE_ROWS_H

#include "uscope/arch/arch.h"
#include "uscope/base/base.h"

struct usc_row {
	__u32 offset;
	__u32 rule; /* USC_RULE_* */
};

/*
 * A row's rule: kind in bits 0–2.
 *   NONE    no unwind information here: a hole between functions
 *   SP      CFA = sp + 8 * bits 3–18; return address at CFA - 8; fp saved at CFA - 8 * bits 19–31, or kept where 0
 *   FP      the same with CFA = fp + 8 * bits 3–18
 *   SHARED  bits 3–31 number a struct usc_rule
 *   ROOT    the return address is undefined: the end of the stack
 *   FRAME_POINTER  no unwind information, but code that keeps fp as its frame pointer: CFA = fp + 16, where fp can be
 *           one
 */
#define USC_RULE_NONE 0u
#define USC_RULE_SP 1u
#define USC_RULE_FP 2u
#define USC_RULE_SHARED 3u
#define USC_RULE_ROOT 4u
#define USC_RULE_FRAME_POINTER 5u
#define USC_RULE_KIND(rule) ((rule)&7u)
#define USC_RULE_CFA_WORDS(rule) ((rule) >> 3 & 0xffffu)
#define USC_RULE_FP_WORDS(rule) ((rule) >> 19)
#define USC_RULE_NUMBER(rule) ((rule) >> 3)
#define USC_RULE_COMPACT(kind, cfa_words, fp_words) ((kind) | (__u32)(cfa_words) << 3 | (__u32)(fp_words) << 19)
#define USC_RULE_SHARED_NUMBER(number) (USC_RULE_SHARED | (__u32)(number) << 3)
#define USC_RULE_MAX_CFA_WORDS 0xffffu
#define USC_RULE_MAX_FP_WORDS 0x1fffu

enum usc_cfa_kind {
	USC_CFA_REG,	/* CFA = reg + cfa_off */
	USC_CFA_DEREF,	/* CFA = *(reg + cfa_off) + cfa_add */
	USC_CFA_PLT,	/* CFA = sp + 8 + ((pc & 15) >= cfa_off ? 8 : 0) */
	USC_CFA_SIGNAL, /* a signal frame: all registers from the sigcontext at sp + cfa_off */
};

enum usc_ra_kind {
	USC_RA_CFA,  /* at CFA + ra_off */
	USC_RA_REG,  /* in register ra_reg (vfork) */
	USC_RA_ROOT, /* undefined */
};

/* Where a callee-saved register is after the step. */
enum usc_save_kind {
	USC_SAVE_SAME,	  /* unchanged */
	USC_SAVE_CFA,	  /* saved at CFA + off */
	USC_SAVE_UNKNOWN, /* undefined, or by an expression that is not supported */
	USC_SAVE_DEREF,	  /* saved at fp + off: DRAP functions, which name slots by the frame pointer */
};

struct usc_rule {
	__u8 cfa_kind;
	__u8 cfa_reg; /* DWARF number, 0–15 */
	__u8 ra_kind;
	__u8 ra_reg;
	__s32 cfa_off;
	__s32 cfa_add;
	__s32 ra_off;
	__u8 save_kind[USC_SAVED_REGS];
	__u8 other_stack; /* the caller may be on any stack: no progress is asked */
	__u8 exact_ra;	  /* the return address is that of an interrupted instruction, and not behind a call */
	__s32 save_off[USC_SAVED_REGS];
};
USC_ASSERT_SIZE(usc_row, 8);
USC_ASSERT_SIZE(usc_rule, 48);

#define USC_INDEX_SHIFT 9
#define USC_INDEX_BYTES (1u << USC_INDEX_SHIFT)
#define USC_PAGE_ROWS_LOG2 10 /* no stretch of USC_INDEX_BYTES holds more than 2^9 rows; one more for its first */

/*
 * One file's place in the tables. rows[row_base … + row_count); index[index_base + k] is the number (from row_base) of
 * the row that holds at text_start + k * USC_INDEX_BYTES, for k up to (text_end - text_start) / USC_INDEX_BYTES + 1
 * (row_count - 1 where that lies behind the text), so that a look-up at text_end itself stays inside. text_start is a
 * multiple of USC_INDEX_BYTES; rows[0].offset == text_start; the last row is NONE at text_end.
 */
struct usc_file_rows {
	__u32 row_base;
	__u32 row_count;
	__u32 index_base;
	__u32 rule_base;
	__u32 rule_count;
	__u32 text_start;
	__u32 text_end;
	__u32 pad;
};
USC_ASSERT_SIZE(usc_file_rows, 32);

#endif
