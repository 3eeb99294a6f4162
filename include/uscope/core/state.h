/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * What the tracer keeps while it runs, whatever it runs in: BPF programs or the kernel module (ADR 0004). The folder
 * core/ is the tracer itself: which calls are recorded, what becomes of tasks, where mappings lie, how a stack is walked
 * and remembered. A backend supplies storage, transport, hooks and access to kernel and user memory: the functions
 * declared in port.h. What one processor alone writes lies in slots numbered by processor.
 */
#ifndef USCOPE_CORE_STATE_H
#define USCOPE_CORE_STATE_H

#include "cpu_state.h"
#include "uscope/control.h"
#include "uscope/frame.h"
#include "uscope/probes.h"
#include "uscope/trace_map.h"

/* How many slots there are: slots.def says of which array, and of which for each processor. */
#define MM_SLOTS 65536
#define DATA_SLOTS 16384
#define MAPPING_SLOTS 1024
#define SHARED_MAPPING_SLOTS 16384
#define MAPPING_GRAIN_BITS 16 /* a slot of a mapping is for so much of its code: 64 KiB */
#define MAPPING_GRAINS 1024   /* of one mapping, at most, that are shared at once */
#define ROW_SLOTS 4096
#define STACK_SETS 8192
#define STACK_WAYS 4
#define STACK_LOG_WORDS (1u << 18)
#define MEMO_SETS 2048
#define MEMO_WAYS 2
#define MEMO_WORDS 64
#define SCRATCH_LEVELS 3
#define HIT_LEVELS 3
/* Functions that are kept from entry to return, of one thread: so many of the program, and so many of the kernel. */
#define OPEN_USER_FUNCTIONS 256
#define OPEN_KERNEL_FUNCTIONS 64
#define OPEN_FUNCTIONS (OPEN_USER_FUNCTIONS + OPEN_KERNEL_FUNCTIONS)
#define NEAR_FUNCTIONS 3	    /* of each, whose pairing is kept in task_entry */
#define OPEN_FUNCTIONS_IN_ALL 16384 /* of all threads, where their number must be known before */
#define BLOCK_BYTES 512		    /* read of the stack at once, where it is not known how much is wanted */
#define BLOCK_MOST_BYTES 2048	    /* and where it is */
#define PATH_COMPONENTS 96	    /* taken of a path, at most */
#define NAME_BYTES 256
#define CGROUP_SLOTS 1024 /* control groups that have been announced */

#define MAPPING_COMPAT ~0u /* task_entry.mapping_nr of a 32-bit program's call */

/* task_entry.flags */
#define TASK_IN_CALL 1	      /* between entry and exit of a recorded call */
#define TASK_NEWBORN 2	      /* its first exit without an entry is its birth */
#define TASK_SKIPPED 4	      /* in a call that -e leaves out */
#define TASK_MAPPING 8	      /* in a call that counts in mm_slot.changing */
#define TASK_ADOPTED 16	      /* came into the map in the middle of its life: maybe in the middle of a call */
#define TASK_COPIED 32	      /* its address space was copied by a fork, and no exec has made another */
#define TASK_EXECED 64	      /* its exec has been seen: where several programs may see one */
#define TASK_ENDED 128	      /* its end has been announced */
#define TASK_MAKING 256	      /* in a call that counts in mm_slot.making */
#define TASK_MAPS_DATA 512    /* in a call that maps data at an address that the kernel chooses */
#define TASK_HELD 1024	      /* its calls are not recorded until its mappings are known: is_held() */
#define TASK_ASKED 2048	      /* in a call that a question was asked of at its entry: its end is no event */
#define TASK_INTERRUPTED 8192 /* and what the program gets of that call is not known yet: interrupted_result */
#define TASK_MAKES_BLIND 4096 /* in a call that makes a mapping executable in which the kernel has put no breakpoints */

/* task_entry.state while one processor is deciding it; the others are enum usc_process_state */
#define STATE_DECIDING 3

/* A function that was at an indirect jump whose target could not be read: core/probes/jumps.h. */
struct unread_jump {
	__u64 from;  /* where the target stands */
	__u64 place; /* of the jump */
	__u64 sp;    /* where the return address was then, if it was an end */
	__u64 now;
	__u32 jump; /* its number, and 1; 0: there is none */
	__u32 number;
};

/* The last probe of ours in a file that a thread has come by: core/arch/x86_64/breakpoint.h. */
struct met_probe {
	__u64 pc;  /* of its breakpoint; 0: it has met none */
	__u64 sp;  /* before the instruction there */
	__u8 code; /* the instruction's first byte */
};

/* One thread of the trace map: kept with the task, so that it ends with it. */
struct task_entry {
	/* What each call touches comes first. The kernel keeps 8 bytes of its own before it in a cache line: 56 of these are
	 * in the first one, 64 in the second. */
	__u32 state; /* enum usc_process_state */
	__u32 serial;
	__u32 process;
	__u32 mm;
	__u32 image;
	__u32 flags;
	/* The call it is in. */
	__u32 nr;
	__u32 call_serial; /* serial and image at entry: an exec may change them */
	__u64 entry_ns;
	__u64 open_ns; /* entry_ns of the last call that was written as open */
	__u32 call_image;
	__u16 strings_left; /* bits of the slots (usc_string_slot) that are read at its return */
	__u8 abi;
	__u8 event_flags;
	__u32 stack;
	__u32 restart_nr;  /* what restart_syscall would continue, with restart_args */
	__u64 unannounced; /* an executable mapping that could not be looked up when it was made */
	__u64 args[6];

	__u32 exe_file;
	__u32 mapping_nr;  /* or MAPPING_COMPAT */
	__u64 mapping_ns;  /* when the call that may change mappings began */
	__u64 data_key;	   /* TASK_MAPS_DATA: data_key() when it began */
	__u32 group_asked; /* cgroup_generation when its control group was looked at */
	/* Where names are asked for (usc_guise): its image, if `image` is a guise; and the guise that it took in its call. */
	__u32 plain_image;
	__u32 renamed_image;
	__u32 uid;	 /* its user, as it was last told of */
	__u32 defaulted; /* of a process's first thread: the signal whose default action the process took last */
	__u64 restart_args[6];
	__s32 interrupted_result; /* the kernel's own, of TASK_INTERRUPTED */
	__u32 interrupted_how;	  /* enum usc_how of its event */
	/* Since when it is off the processors, as far as was seen (0: it is not, or nobody asks), and what is told of that when it
	 * is over. */
	__u64 off_ns;
	__u64 off_woken_ns;
	__u64 off_runtime_ns; /* for how long it had run by then */
	__u32 off_stack;
	__u32 off_image;
	__u32 off_state; /* as the kernel has it */
	__u16 off_kind;	 /* enum usc_offcpu_kind */
	__u16 off_flags; /* of its hit */
	__u32 off_waker; /* its tid; 0: none, or an interrupt */
	__u32 off_waker_process;
	/* Functions that it is in, of the program [0] and of the kernel [1]: core/probes/returns.h. */
	__u32 functions; /* under which they are kept; 0: it has had none */
	__u16 open_functions[2];
	__u16 made[2];		   /* up to which depth there is other room than this */
	__u32 address_room;	   /* bytes, in the call that it is in, for an address that the kernel writes */
	struct unread_jump unread; /* of the innermost one of the program */
	struct met_probe met_probe;
	struct open_function near[2][NEAR_FUNCTIONS]; /* the outermost ones of each */
};

/* The addresses between which executable mappings lie, or once lay. `below` is ~start, so that zeroes are the empty
 * range. */
struct exec_range {
	__u64 below;
	__u64 end;
};

/*
 * The generation of an address space's mappings, and where the executable ones lie: one range for the program, one for
 * what is mapped above SPLIT_ADDRESS (libraries). Slots are shared by address spaces whose serials collide, which costs
 * refills and look-ups, never truth: cached entries carry the serial too, and ranges only grow. As long as the mappings
 * of an address space that is not known from its beginning have not been gone through, they may lie anywhere.
 */
struct mm_slot {
	__u32 generation;
	__u32 changing;	   /* calls under way that may change executable mappings */
	__u32 made;	   /* as `generation`, but only for calls that may make something executable */
	__u32 making;	   /* those under way */
	__u32 unannounced; /* serial of the address space that is still to be gone through; ~0: of several */
	__u32 held;	   /* number of the address space whose mappings are not known yet: is_held() */
	struct exec_range low;
	struct exec_range high;
};

#define SPLIT_ADDRESS 0x700000000000ull

/* Memory that was mapped without PROT_EXEC: nothing in it is executable as long as nothing has been made so. */
struct data_slot {
	__u64 key; /* serial of the address space << 32 | mm_slot.made */
	__u64 start;
	__u64 end;
	__u64 pad;
};

/*
 * A cached executable mapping. key 0 = empty. Of each processor; and, for all of them, what was met while mappings were
 * looked at: where mappings are locked most of the time, a look-up of one's own may take thousands of attempts.
 */
struct mapping_slot {
	__u64 key; /* mm serial << 32 | generation */
	__u64 start;
	__u64 end;
	__u64 offset; /* file offset of start */
	__u64 file;
	__u64 turn; /* of a shared slot: counts what was written there */
};

/* A cached pc: its frame word and the rule that holds there. */
struct row_slot {
	__u64 key;
	__u64 pc; /* pc << 1 | exact */
	__u64 frame;
	__u32 rule;
	__u32 classes;
};

/* One value for each processor: a walk looks it up once, not for each frame. */
struct row_cache {
	struct row_slot slot[ROW_SLOTS];
};

/* A stack that was sent: its words lie in this processor's log, as long as the log has not run over them. */
struct stack_slot {
	__u64 hash;
	__u64 position; /* in the log, ever growing */
	__u32 stack;
	__u32 tag; /* stack_tag */
	__u32 mm;
	__u32 pad;
};

/* Where a stack can be. */
struct stack_set {
	struct stack_slot slot[STACK_WAYS];
};

struct stack_log {
	__u64 word[STACK_LOG_WORDS];
};

/*
 * A whole walk, remembered: sound as long as the mappings are unchanged (key) and every stack word that decided it is
 * what it was. Places are counted from sp, and so are values by which a CFA was found (fp, and words that it was
 * restored from): threads that make a call by the same way share one slot, though each has its own stack. Walks that
 * may have used other registers are not remembered.
 */
struct memo_slot {
	__u64 key;
	__u64 pc; /* pc << 1 | exact, as row_slot.pc */
	__u64 fp; /* less sp */
	__u32 stack;
	__u32 exe_file;
	__u32 in_page; /* sp % USC_PAGE_BYTES */
	__u16 frames;
	__u16 kept;
	__u16 fp_used;
	__u16 fixed;  /* words that are compared as they are: value[0] on */
	__u16 moving; /* words that are counted from sp: the last of value[] */
	__u16 pad;
	__u32 bytes;	 /* from sp to behind the last word */
	__u32 candidate; /* a stack that a walk from here gave once */
	__u32 turn;	 /* of the first slot of a set: counts the candidates */
	__u32 pad2;
	__u64 value[MEMO_WORDS];
	__u16 at[MEMO_WORDS]; /* word number from sp */
};

/* Where a walk can be. */
struct memo_set {
	struct memo_slot slot[MEMO_WAYS];
};

/* What a word that was read is to a walk. */
enum {
	WORD_IS_NOTHING, /* a saved fp, by which no CFA has been found so far */
	WORD_IS_FIXED,	 /* it decides the stack: a return address */
	WORD_MOVES,	 /* the same: a CFA was found by it, so it counts from sp */
};

/* Where one walk works. */
struct scratch {
	struct usc_frame frame;
	__u64 key; /* of the address space now; 0 = mappings are changing, nothing is cached */
	/* Registers that it begins with. */
	__u64 start_pc; /* as struct place has it; so is start_behind */
	__u64 start_sp;
	__u64 start_fp;
	__u64 block_base;
	__u64 wanted_end; /* what is behind this address will not be asked for; 0 = not known */
	__u32 block_bytes;
	__u32 start_behind;
	__u32 cpu;
	struct usc_scope_state scope;
	__u32 exe_file;
	__u32 mm;
	__u32 ended;
	__u32 done;
	__u32 defer;
	__u32 walked;
	__u32 has_jit;
	__u32 no_elf; /* it stopped at a file that begins as no ELF file does */
	__u32 copied; /* TASK_COPIED */
	__u32 serial;
	/* for the memo */
	__u32 memo_set; /* its number */
	__u32 reads;	/* words read; above MEMO_WORDS: no memo */
	__u32 memo_ok;
	__u32 fp_used;	 /* the CFA of a frame came from the fp that the walk began with */
	__u32 fp_source; /* number of the word that fp was restored from, plus 1; 0: it has not been yet */
	__u64 hash;
	__u16 read_at[MEMO_WORDS];
	__u8 read_as[MEMO_WORDS]; /* WORD_* */
	__u64 read_value[MEMO_WORDS];
	__u8 block[BLOCK_MOST_BYTES];
	struct usc_stack record; /* and its frames behind it */
	__u64 frames[USC_MAX_FRAMES];
};

/* How far the outward walk of a path has come. Not on the stack: 6.1's BPF has 512 bytes for all calls. */
struct path_walk {
	struct dentry *dentry;
	struct mount *mount;
	struct dentry *root_dentry;
	struct vfsmount *root_mount;
	__u32 bytes; /* of the components found */
	__u32 done;
};

/* Room for records of variable length. */
struct text_scratch {
	union {
		struct usc_exec exec;
		struct usc_file file;
		struct usc_cgroup cgroup;
		char bytes[4096];
	};
	struct path_walk walk;
};

/* Room for an exec's record, with what is kept of its argument list; of the hook of execs alone. */
struct exec_scratch {
	struct usc_exec exec;
	char data[USC_PATH_BYTES + USC_ARGV_MOST + 2 * sizeof(struct usc_argv_end)];
};

#define STRING_BYTES_MOST (sizeof(struct usc_vector) + USC_DATA_MOST)

/* How far the buffers of a call have been gone through. Not on the stack: what a program reads from memory the verifier
 * need not follow. */
struct buffer_walk {
	__u64 next; /* address of the next struct iovec */
	__u64 left; /* bytes that the call carries, without those of the buffers before */
	__u32 number;
	__u32 taken; /* bytes, of all buffers before */
	__u32 is_narrow;
	__u32 is_cut; /* something was left out */
};

/* How far the control data of a call's messages has been gone through. Not on the stack, likewise. */
struct passed_walk {
	__u64 message;	/* address of the next struct mmsghdr */
	__u64 control;	/* address of the next control message, */
	__u64 end;	/* and where they end */
	__u64 next;	/* address of the next descriptor of the control message at hand */
	__u32 messages; /* struct mmsghdr that have not been looked at */
	__u32 left;	/* descriptors of the control message at hand that have not */
	__u32 is_narrow;
	__u32 arg;
	__u32 kind; /* enum usc_string_kind */
	__u32 flags;
	__u32 type; /* of the control message at hand */
	__u32 pad;
};

/* Room for a string's record, of the hooks of calls alone; a word more, for its padding. Or for a futex's. Behind a
 * vector there is room for twice what is taken, since the verifier sees only where a piece begins and how long it is. */
struct string_scratch {
	union {
		struct {
			struct usc_string string;
			char text[STRING_BYTES_MOST + 16];
		};
		struct {
			struct usc_string vector_string;
			struct usc_vector vector;
			char vector_data[2 * USC_DATA_MOST];
		};
		struct {
			struct usc_string messages_string;
			struct usc_message messages[USC_MESSAGES];
		};
		struct {
			struct usc_futex futex;
			char words[USC_FUTEX_WORDS];
		};
		struct {
			struct usc_string passed_string;
			struct usc_passed passed;
		};
		struct text_scratch path; /* behind passed, by path_components() */
	};
	struct buffer_walk buffers;
	struct passed_walk passing;
	__u64 number; /* of through_memory() */
};

USC_ASSERT(sizeof(struct usc_string) + sizeof(struct usc_passed) == sizeof(struct usc_file), "the path follows");
USC_ASSERT(sizeof(struct usc_string) + __builtin_offsetof(struct usc_passed, truncated) ==
		   __builtin_offsetof(struct usc_file, truncated),
	   "path_components() notes it there");

#define SAMPLE_BYTES (2 * USC_SAMPLE_PAGES * USC_PAGE_BYTES)

/* How far a copy has come. Not on the stack: what a program reads from memory the verifier need not follow. */
struct copy_state {
	__u64 address; /* of the next page; the first one from sp on */
	__u64 end;     /* of the stack */
	__u64 pages;   /* bits of the pages that could be read */
	__u64 same;    /* of those, bits of the pages that the collector has */
	__u64 sent[2]; /* numbers of those that it has not, as bits, of both copies */
	__u32 bytes;   /* of all pages */
	__u32 at;      /* where in the room the next page goes */
	__u32 second;  /* the copy of the stack's end */
	__u32 pad;
};

struct sample_scratch {
	struct usc_sample sample;
	char data[SAMPLE_BYTES];
	/* The last page of each number that the collector was sent, of both copies; and which of them there are. */
	char sent[SAMPLE_BYTES];
	__u64 sent_bits[2];
	struct copy_state copy; /* the one at hand */
};

/* Where a probe finds the arguments of a hit, and room for the text of one of them; a word more, for its padding. */
struct probe_room {
	__u64 registers[USC_PROBE_REGISTERS]; /* of a program, or of a kernel function's entry */
	__u64 record;			      /* address of a tracepoint's */
	__u32 task;			      /* serial */
	__u32 in_kernel;		      /* whether its addresses are the kernel's, or may be */
	__u32 unread;			      /* as in usc_hit */
	__u32 pad;
	struct usc_string string;
	char text[USC_STRING_MOST + 16];
};

/* Where a question is run over one event: cpu_state.asking. */
struct query_scratch {
	struct usc_query_input input;
	struct usc_query_state state;
	struct usc_partial partial; /* a row that gives way */
	struct usc_event event;	    /* what a hit is: BPF's stack has no room for it where hits are told */
	__s64 number_of_step;	    /* add_to_steps(), and which step of its group that is */
	__u32 step;
	__u32 pad;
};

/* Mappings that have been announced to the collector. */
struct announced_key {
	__u32 mm;
	__u32 file;
	__u64 start;
	__u64 generation; /* mappings_name(): after a change every mapping is announced again */
};

#endif
