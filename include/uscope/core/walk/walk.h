/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The walk: include/uscope's search, step and scope filter, driven frame by frame over this backend's caches. Three of
 * them stand before the full search, each of one processor:
 *   memo           pc and place in the page → the whole stack, valid while the mappings and every stack word that
 *                  decided the walk are unchanged
 *   row cache      pc → frame and rule
 *   mapping cache  (address space, 64 KiB of text) → file and offset
 * What cannot be decided here (a file without rows yet, mappings locked or changing, a rule by a register that compact
 * rows do not follow) is not given up: registers and a bounded copy of the stack go to the collector, which finishes the
 * walk with the same step function.
 *
 * No walk interrupts another one on its processor (take_stack()), so what it finds in these caches nobody else writes
 * meanwhile.
 */
#ifndef USCOPE_CORE_WALK_H
#define USCOPE_CORE_WALK_H

#include "uscope/core/walk/mappings.h"
#include "uscope/core/walk/place.h"
#include "uscope/unwind.h"

#define MAX_STEPS 4096
/* Kinds beside USC_RULE_*. */
#define RULE_BAD_CALL 6u  /* no code is there: usc_step_bad_call() */
#define RULE_FILE_GONE 7u /* the file could not be opened or read */
/* Code in a file of which nothing is known: a guess, as in memory without a file. */
#define RULE_GUESS (USC_RULE_FRAME_POINTER | 8u)

#define REMEMBERED_DISTANCES 0x7fff8ull /* of words from sp: multiples of 8 of which the number has 16 bits */

/* Keeps a word that the walk has read, for the memo. */
static __always_inline void remember_read(struct scratch *s, __u64 address, __u64 value)
{
	__u64 distance = address - s->start_sp;
	__u32 n = s->reads;

	s->reads = n + 1;
	if (n >= MEMO_WORDS || distance & ~REMEMBERED_DISTANCES) {
		s->memo_ok = 0;
		return;
	}
	s->read_at[n] = distance / 8;
	s->read_value[n] = value;
}

static __always_inline int read_for_compact(void *memory, __u64 address, __u64 *value)
{
	struct scratch *s = memory;

	if (read_word(s, address, value)) {
		s->memo_ok = 0;
		return -1;
	}
	remember_read(s, address, *value);
	return 0;
}

/* Not inlined: shared rules read many words, and 6.1's BPF has 512 bytes of stack for all calls. */
USC_SUBPROGRAM int read_for_shared(struct scratch *s, __u64 address, __u64 *value)
{
	return s && value ? read_for_compact(s, address, value) : -1;
}

static inline int usc_read_u64(void *memory, __u64 address, __u64 *value)
{
	return read_for_shared(memory, address, value);
}

/* What is at the frame's pc. */
struct pc_lookup {
	__u64 frame; /* frame word without `exact` */
	__u32 rule;
	__u32 classes;
};

#define LOOKUP_OK 0
#define LOOKUP_DEFER(reason) (reason)
#define LOOKUP_BROKEN(error) (-1 - (int)(error))

/* The mapping that holds an address, by cache or VMA. */
static __always_inline int find_mapping_of_pc(struct scratch *s, struct found *found)
{
	__u32 number = s->cpu * MAPPING_SLOTS + mapping_hash(s->key, found->address) % MAPPING_SLOTS;
	struct mapping_slot *slot = mapping_slot_at(number);

	if (!slot)
		return LOOKUP_BROKEN(USC_BROKEN_NO_MAPPING);
	if (s->key && slot->key == s->key && found->address >= slot->start && found->address < slot->end) {
		found->start = slot->start;
		found->offset = slot->offset;
		found->file = slot->file;
		return LOOKUP_OK;
	}
	if (!find_shared_mapping(found, s->key)) {
		find_mapping(found);
		if (found->status == FOUND_BUSY)
			return LOOKUP_DEFER(USC_DEFER_LOCK);
		if (found->status == FOUND_LOST)
			return LOOKUP_DEFER(USC_DEFER_NO_TABLE);
		if (found->status == FOUND_NONE)
			return s->copied ? LOOKUP_DEFER(USC_DEFER_COPIED) : LOOKUP_BROKEN(USC_BROKEN_NO_MAPPING);
		/* What is shared has been announced. */
		if (!send_mapping(found, 0))
			share_mapping(found, s->key, found->address);
	}
	if (s->key) {
		slot->key = 0;
		fill_mapping_slot(slot, found, s->key);
	}
	return LOOKUP_OK;
}

#define ELF_MAGIC 0x464c457fu /* linux/elf.h: ELFMAG */

/*
 * Does the task's memory show that a file begins as no ELF file does? It does where the file's beginning is what is mapped. Of
 * memory behind a descriptor nobody else may be able to tell, once its processes have ended.
 */
static __always_inline bool is_surely_no_elf(const struct found *found)
{
	__u32 magic;

	return !found->offset && !read_user(&magic, sizeof(magic), (const void *)found->start) && magic != ELF_MAGIC;
}

/* The full search: mapping, file, row. */
USC_SUBPROGRAM int search_pc(struct scratch *s, struct pc_lookup *lookup)
{
	struct found found = {};
	struct usc_file_entry *entry;
	__u64 offset;
	int error;

	if (!s || !lookup)
		return LOOKUP_BROKEN(USC_BROKEN_NO_MAPPING);
	found.address = s->frame.pc - !s->frame.exact;
	found.mm = s->mm;
	found.serial = s->serial;
	error = find_mapping_of_pc(s, &found);
	if (error == LOOKUP_BROKEN(USC_BROKEN_NO_MAPPING) && s->frame.exact) {
		lookup->frame = usc_frame_in_memory(s->frame.pc, 0);
		lookup->rule = RULE_BAD_CALL;
		lookup->classes = 0;
		return LOOKUP_OK;
	}
	if (error)
		return error;
	entry = entry_of_file(found.file);
	if (!entry)
		return LOOKUP_DEFER(USC_DEFER_NO_TABLE);
	if (found.file == USC_FILE_NONE || entry->state == USC_FILE_JIT) {
		lookup->frame = usc_frame_in_memory(s->frame.pc, 0);
		lookup->rule = USC_RULE_FRAME_POINTER;
		lookup->classes = 0;
		return LOOKUP_OK;
	}
	if (entry->state == USC_FILE_PENDING)
		s->no_elf = is_surely_no_elf(&found);
	if (entry->state == USC_FILE_PENDING || entry->state == USC_FILE_USER_ONLY)
		return LOOKUP_DEFER(USC_DEFER_NO_TABLE);
	offset = found.address - found.start + found.offset;
	lookup->frame = usc_frame_in_file(found.file, offset + !s->frame.exact, s->frame.pc, 0);
	lookup->classes = entry->classes;
	lookup->rule = USC_RULE_NONE;
	if (entry->state == USC_FILE_READY)
		lookup->rule = usc_row_find(tables_of(found.file), &entry->rows, offset);
	else if (entry->state == USC_FILE_CODE)
		lookup->rule = RULE_GUESS;
	else if (entry->state == USC_FILE_UNREACHABLE)
		lookup->rule = RULE_FILE_GONE;
	return LOOKUP_OK;
}

static __always_inline struct row_slot *row_slot_of(struct row_cache *rows, __u64 key, __u64 pc)
{
	return &rows->slot[spread(key ^ pc) % ROW_SLOTS];
}

/* What is at the frame's pc, by the row cache or the full search. */
static __always_inline int find_pc(struct scratch *s, struct pc_lookup *lookup)
{
	__u64 pc = s->frame.pc << 1 | s->frame.exact;
	struct row_cache *rows = row_cache_of(s->cpu);
	struct row_slot *slot;
	int error;

	if (!rows)
		return LOOKUP_BROKEN(USC_BROKEN_NO_MAPPING);
	slot = row_slot_of(rows, s->key, pc);
	if (slot->pc == pc && slot->key == s->key && s->key) {
		lookup->frame = slot->frame;
		lookup->rule = slot->rule;
		lookup->classes = slot->classes;
		return LOOKUP_OK;
	}
	error = search_pc(s, lookup);
	if (!error && s->key) {
		slot->key = 0;
		barrier();
		slot->pc = pc;
		slot->frame = lookup->frame;
		slot->rule = lookup->rule;
		slot->classes = lookup->classes;
		barrier();
		slot->key = s->key;
	}
	return error;
}

struct walk_context {
	struct scratch *s;
};

static __always_inline long walk_ends(struct scratch *s, __u32 ended)
{
	s->ended = ended;
	s->done = 1;
	return 1;
}

/* The frame of this number, counted from 0. */
static __always_inline void keep_frame(struct scratch *s, __u32 n, __u64 frame, __u64 *hash)
{
	if (n < USC_MAX_FRAMES)
		s->frames[n] = frame;
	*hash = (*hash ^ frame) * 0x9e3779b97f4a7c15ull;
	*hash ^= *hash >> 29;
}

/* Asks the scope whether the frame is kept. Not 0: the walk has ended. */
static __always_inline long admit_frame(struct scratch *s, const struct usc_scope *scope, struct usc_scope_state *state,
					__u64 frame, __u32 classes, __u64 *hash)
{
	int answer = usc_scope_admit(scope, state, usc_frame_file(frame), s->exe_file, classes);

	if (answer & USC_SCOPE_KEEP)
		keep_frame(s, state->kept - 1, frame, hash);
	return answer & USC_SCOPE_STOP ? walk_ends(s, usc_scope_ended(answer)) : 0;
}

/* By their DWARF numbers. */
static __always_inline void read_registers(struct pt_regs *regs, __u64 *registers)
{
	USC_READ_REGISTERS(regs, registers);
}

USC_SUBPROGRAM int step_shared(struct scratch *s, __u32 rule)
{
	const struct usc_rule *shared;
	__u32 number = USC_RULE_NUMBER(rule);

	if (!s)
		return USC_STEP_BROKEN(USC_BROKEN_BAD_RULE);
	s->memo_ok = 0; /* may use any register */
	if (s->walked == 1)
		read_registers(user_regs(this_task()), s->frame.regs);
	shared = usc_rule_at(0, number);
	if (!shared)
		return USC_STEP_BROKEN(USC_BROKEN_BAD_RULE);
	return usc_step_shared(&s->frame, shared, s);
}

/*
 * A step by sp and fp comes: which words decide it. Of the two that it may read the first is the saved fp, which
 * decides nothing unless a CFA is found by it later.
 */
static __always_inline void note_step(struct scratch *s, bool by_fp, bool restores_fp)
{
	__u32 number = s->reads & (MEMO_WORDS - 1);

	if (by_fp && s->fp_source)
		s->read_as[(s->fp_source - 1) & (MEMO_WORDS - 1)] = WORD_MOVES;
	else if (by_fp)
		s->fp_used = 1;
	if (restores_fp) {
		s->read_as[number] = WORD_IS_NOTHING;
		s->fp_source = ++number;
		number &= MEMO_WORDS - 1;
	}
	s->read_as[number] = WORD_IS_FIXED;
}

static __always_inline bool is_compact(__u32 kind)
{
	return kind == USC_RULE_SP || kind == USC_RULE_FP;
}

static __always_inline void note_compact(struct scratch *s, __u32 rule)
{
	note_step(s, USC_RULE_KIND(rule) == USC_RULE_FP, USC_RULE_FP_WORDS(rule) != 0);
}

/* Code without a file: by what it is about to do if that can be read and seen, else by the frame pointer. */
USC_SUBPROGRAM int step_frame_pointer(struct scratch *s)
{
	__u64 code;
	__u32 rule;

	if (!s)
		return USC_STEP_BROKEN(USC_BROKEN_BAD_RULE);
	if (!read_word(s, s->frame.pc, &code)) {
		rule = usc_rule_of_return(code);
		if (rule != USC_RULE_NONE) {
			s->memo_ok = 0; /* by the code's bytes, which the memo does not hold */
			return usc_step_compact(&s->frame, rule, s);
		}
	}
	note_step(s, true, true);
	return usc_step_frame_pointer(&s->frame, s);
}

USC_SUBPROGRAM int step_bad_call(struct scratch *s)
{
	__u64 caller, code;

	if (!s)
		return USC_STEP_BROKEN(USC_BROKEN_BAD_RULE);
	s->memo_ok = 0; /* by the code's bytes, too */
	if (read_word(s, s->frame.regs[USC_REG_SP], &caller))
		return USC_STEP_BROKEN(USC_BROKEN_NOFAULT);
	if (read_user(&code, sizeof(code), (const void *)(caller - sizeof(code))))
		return USC_STEP_BROKEN(USC_BROKEN_NO_MAPPING);
	return usc_step_bad_call(&s->frame, code, s);
}

/* After a step by a rule of this kind that has not led to a caller. */
static __always_inline long end_by_step(struct scratch *s, __u32 kind, int result)
{
	if (result == USC_STEP_ROOT)
		return walk_ends(s, USC_ENDED_ROOT);
	if (result == USC_STEP_BROKEN(USC_BROKEN_REGISTER)) {
		s->defer = USC_DEFER_REGISTER;
		return walk_ends(s, 0);
	}
	/* What breaks by addresses themselves (no memory, no progress) says nothing of another stack. */
	if (kind != USC_RULE_NONE && result != USC_STEP_BROKEN(USC_BROKEN_ZERO_RA))
		s->memo_ok = 0;
	return walk_ends(s, USC_ENDED_BROKEN + (-1 - result));
}

/* One frame of any kind: place it, ask the scope, step to its caller. */
static __always_inline long walk_frame_within(struct scratch *s, const struct usc_scope *scope)
{
	struct pc_lookup lookup;
	__u64 frame;
	__u32 kind;
	int result;

	result = find_pc(s, &lookup);
	if (result > 0) {
		s->defer = result;
		return walk_ends(s, 0);
	}
	if (result < 0)
		return walk_ends(s, USC_ENDED_BROKEN + (-1 - result));
	s->walked++;
	if (usc_frame_file(lookup.frame) == USC_FILE_NONE || lookup.rule == RULE_GUESS)
		s->has_jit = 1;
	frame = lookup.frame | (s->frame.exact ? USC_FRAME_EXACT : 0);
	if (admit_frame(s, scope, &s->scope, frame, lookup.classes, &s->hash))
		return 1;
	kind = USC_RULE_KIND(lookup.rule);
	if (is_compact(kind)) {
		note_compact(s, lookup.rule);
		result = usc_step_compact(&s->frame, lookup.rule, s);
	} else if (kind == USC_RULE_SHARED) {
		result = step_shared(s, lookup.rule);
	} else if (kind == USC_RULE_FRAME_POINTER) {
		result = step_frame_pointer(s);
	} else if (kind == USC_RULE_ROOT) {
		result = USC_STEP_ROOT;
	} else if (kind == RULE_BAD_CALL) {
		result = step_bad_call(s);
	} else {
		result = USC_STEP_BROKEN(kind == RULE_FILE_GONE ? USC_BROKEN_FILE_GONE : USC_BROKEN_NO_ROWS);
	}
	return result == USC_STEP_CALLER ? 0 : end_by_step(s, kind, result);
}

#if USC_PLAIN_FRAMES
/*
 * Walks on through plain frames, which nearly all are: the row cache has them, and a compact rule leads to the caller, or
 * there is none. Those of code without a file are never plain. Less than walk_frame() takes for each: what changes from
 * frame to frame is kept in registers, and nothing is called. The first other frame is left to walk_frame().
 */
USC_SUBPROGRAM int walk_plain_frames(struct scratch *s)
{
	/* Read as volatile: the value that the tracer writes before loading, not the zero that the compiler sees. */
	const struct usc_scope scope = {.mode = config.scope.mode, .budget = config.scope.budget};
	struct usc_scope_state state;
	struct row_cache *rows;
	struct row_slot *slot;
	__u64 key, hash, place, pc, sp, fp;
	__u32 i, kind, rule, known, exact, walked = 0;
	int result;

	if (!s || !s->key || s->walked > MAX_STEPS - USC_PLAIN_FRAMES)
		return 0;
	rows = row_cache_of(s->cpu);
	if (!rows)
		return 0;
	key = s->key;
	hash = s->hash;
	state = s->scope;
	pc = s->frame.pc;
	sp = s->frame.regs[USC_REG_SP];
	fp = s->frame.regs[USC_REG_FP];
	known = s->frame.known;
	exact = s->frame.exact;
	for (i = 0; i < USC_PLAIN_FRAMES; i++) {
		place = pc << 1 | exact;
		slot = row_slot_of(rows, key, place);
		rule = slot->rule;
		kind = USC_RULE_KIND(rule);
		if (slot->pc != place || slot->key != key || (!is_compact(kind) && kind != USC_RULE_ROOT))
			break;
		walked++;
		if (admit_frame(s, &scope, &state, slot->frame | (exact ? USC_FRAME_EXACT : 0), slot->classes, &hash))
			break;
		result = USC_STEP_ROOT;
		if (is_compact(kind)) {
			note_compact(s, rule);
			result = usc_step_registers(&pc, &sp, &fp, &known, rule, s);
		}
		if (result != USC_STEP_CALLER) {
			end_by_step(s, kind, result);
			break;
		}
		exact = 0;
	}
	s->walked += walked;
	s->hash = hash;
	s->scope = state;
	s->frame.pc = pc;
	s->frame.regs[USC_REG_SP] = sp;
	s->frame.regs[USC_REG_FP] = fp;
	s->frame.known = known;
	s->frame.exact = exact;
	return 0;
}
#else
static __always_inline int walk_plain_frames(struct scratch *s)
{
	return 0;
}
#endif

/* One frame that is not plain, and those behind it that are. */
static long walk_frame(__u32 i, struct walk_context *context)
{
	const struct usc_scope scope = {.mode = config.scope.mode, .budget = config.scope.budget};
	struct scratch *s = context->s;

	if (s->walked >= MAX_STEPS || walk_frame_within(s, &scope))
		return 1;
	walk_plain_frames(s);
	return s->done != 0; /* for the verifier: 0 or 1 */
}

/* Where a walk begins, and what holds of the mappings now. */
static __always_inline void walk_starts_at(struct scratch *s, struct pt_regs *regs, struct place place,
					   struct task_entry *t)
{
	s->start_pc = place.pc;
	s->start_behind = place.behind;
	s->start_sp = USC_REGS_SP(regs);
	s->start_fp = USC_REGS_FP(regs);
	s->exe_file = t->exe_file;
	s->key = mapping_key(t->mm);
	s->block_bytes = 0;
	s->wanted_end = 0;
}

/*
 * Sets the scratch area up behind walk_starts_at(). Of the task's registers, those beside sp and fp are read where they are
 * used: by a shared rule of the first frame. A frame behind a compact rule does not know them.
 */
static __always_inline void walk_begin(struct scratch *s, struct task_entry *t)
{
	struct usc_frame *frame = &s->frame;

	frame->pc = s->start_pc;
	frame->regs[USC_REG_SP] = s->start_sp;
	frame->regs[USC_REG_FP] = s->start_fp;
	frame->known = USC_KNOWN_ALL;
	frame->exact = !s->start_behind;
	s->mm = t->mm;
	s->serial = t->serial;
	s->copied = (t->flags & TASK_COPIED) != 0;
	s->scope.kept = 0;
	s->scope.last_file = ~0u;
	s->ended = 0;
	s->done = 0;
	s->defer = 0;
	s->walked = 0;
	s->has_jit = 0;
	s->no_elf = 0;
	s->reads = 0;
	s->memo_ok = 1;
	s->fp_used = 0;
	s->fp_source = 0;
	s->hash = 0;
}

#endif
