/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The innermost frame of the application's binaries on the current task's user stack, for modules that print it. A walk
 * of its own, up to that frame. Only tracer.c includes this, behind core.
 */
#ifndef USCOPE_KMOD_APP_FRAME_H
#define USCOPE_KMOD_APP_FRAME_H

static long walk_to_app(__u32 i, struct walk_context *context)
{
	const struct usc_scope scope = {.mode = USC_MODE_APP_LAST, .budget = 1};

	return walk_frame_within(context->s, &scope);
}

struct file_name {
	char *text;
	unsigned int room;
	unsigned int bytes;
};

static long name_mapped_file(struct task_struct *task, struct vm_area_struct *vma, struct file_name *name)
{
	if (vma->vm_file)
		name->bytes = scnprintf(name->text, name->room, "%pd", usc_opened_path(vma->vm_file)->dentry);
	return 0;
}

/* The executable's name is to be had anywhere; that of another file where its mapping may be looked up. */
static void name_file(struct file_name *name, __u32 file, __u32 exe_file, __u64 pc)
{
	struct file *exe;

	if (file == exe_file) {
		rcu_read_lock();
		exe = rcu_dereference(current->mm->exe_file);
		if (exe)
			name->bytes = scnprintf(name->text, name->room, "%pD", exe);
		rcu_read_unlock();
	} else {
		(void)with_vma(pc, name_mapped_file, name);
	}
	if (!name->bytes)
		name->bytes = scnprintf(name->text, name->room, "?");
}

static int app_frame_in(struct task_entry *t, struct scratch *s, u64 *pc, char *text, unsigned int room)
{
	struct walk_context context = {.s = s};
	struct file_name name = {.text = text, .room = room};
	struct pt_regs *regs = task_pt_regs(current);
	__u64 frame;

	walk_starts_at(s, regs, place_now(regs, t, true), t);
	walk_begin(s, t);
	usc_loop(MAX_STEPS, walk_to_app, &context);
	if (s->defer || mappings_moved(s, t))
		return -EAGAIN;
	if (!s->done || (s->ended != USC_ENDED_SCOPE && s->ended != USC_ENDED_BUDGET) || s->scope.kept != 1)
		return -ENODATA;
	frame = s->frames[0];
	*pc = s->frame.pc;
	name_file(&name, usc_frame_file(frame), t->exe_file, s->frame.pc - !s->frame.exact);
	scnprintf(text + name.bytes, room - name.bytes, "+0x%llx", usc_frame_place(frame));
	return 0;
}

/* Between usc_log_begin and usc_log_end. */
int usc_log_app_frame(u64 *pc, char *text, unsigned int room)
{
	struct task_entry *t = entry_of(current);
	__u32 cpu_number = current_cpu(), level;
	struct cpu_state *cpu = cpu_state_of(cpu_number);
	struct scratch *s;
	int error = -EBUSY;

	if (!t || t->state != USC_TRACED)
		return -ENOENT;
	if (!current->mm || !t->image || !user_64bit_mode(task_pt_regs(current)))
		return -ENODATA;
	level = enter_scratch(cpu);
	if (level < SCRATCH_LEVELS) {
		s = scratch_at(cpu_number * SCRATCH_LEVELS + level);
		s->cpu = cpu_number;
		error = app_frame_in(t, s, pc, text, room);
	}
	leave_scratch(cpu, level);
	return error;
}

#endif
