/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* tracer.c: the hooks, and what the rest of the module asks of core/, which only tracer.c holds. */
#ifndef USCOPE_KMOD_TRACER_H
#define USCOPE_KMOD_TRACER_H

#include <linux/types.h>

struct ftrace_ops;
struct ftrace_regs;
struct kretprobe_instance;
struct pid;
struct pt_regs;
struct task_struct;
struct usc_attached_call;
struct usc_event;
struct usc_record;

int usc_hooks_find(void);
/* Once for a session. An attach that fails leaves no hook, and the trace map empty. */
int usc_hooks_attach(void);
void usc_hooks_close_entries(void);
/* At any time. Waits for running probes, and leaves the trace map empty. */
void usc_hooks_detach(void);

/* Tasks that run already: asked for once the hooks are attached. All four may sleep.
 */
void usc_adopt(void);
int usc_adopt_mappings(struct pid *pid);
u32 usc_attached_calls(struct usc_attached_call *calls, u32 capacity);
u32 usc_open_calls(struct usc_event *events, u32 capacity, u64 before_ns, u64 *traced);

/* For functions.c: hooks at the entry and the return of functions, and whether a return is to be hooked (0: it is).
 * What is kept from one to the other takes USC_RETURN_BYTES. */
#define USC_RETURN_BYTES sizeof(u32)
void usc_function_entered(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops, struct ftrace_regs *saved);
int usc_function_kept(struct kretprobe_instance *instance, struct pt_regs *regs);
int usc_function_returned(struct kretprobe_instance *instance, struct pt_regs *regs);

/*
 * For log.c and kernel_symbols.c, between usc_log_begin (0, or why nothing can be logged here and now) and usc_log_end;
 * nothing sleeps or faults in between.
 */
struct usc_log_task {
	u32 serial;
	u32 image;
	u32 stack;
};

int usc_log_begin(void);
void usc_log_refused(void); /* counts an event for which usc_log_begin said -EOPNOTSUPP */
void usc_log_end(void);
int usc_log_task(struct usc_log_task *task, bool with_stack);
int usc_log_app_frame(u64 *pc, char *text, unsigned int room);
void usc_log_lost(u32 cause);
int usc_log_send(struct usc_record *record, u16 type, u32 bytes, u32 task);
bool usc_is_traced(struct task_struct *task);

#endif
