/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Which processes the trace is of, where it is not of one launched command: by name, number or control group. Questions
 * only; what follows from the answers is in include/uscope/core/tasks/adopt.h.
 */
#ifndef USCOPE_BPF_TARGET_H
#define USCOPE_BPF_TARGET_H

#include "transport.h"
#include "uscope/interpreter.h"

#define MOST_ANCESTORS 64
#define MOST_CGROUP_LEVELS 32
#define MOST_PID_LEVELS 8
#define NAME_TEXT_BYTES 4096

/* Room for one look at a name. Where a scan is stands here too: of a map's memory the verifier follows no values. */
struct name_scratch {
	struct app_name name;
	struct usc_argument_scan scan;
	char text[NAME_TEXT_BYTES + USC_APP_NAME_BYTES];
};

ARRAY_MAP(name_scratches, 1, struct name_scratch);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct app_name);
	__type(value, __u32);
} target_names SEC(".maps");

/* Process numbers, as the tracer's namespace has them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} target_pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);
	__type(value, __u32);
} target_cgroups SEC(".maps");

static __always_inline struct name_scratch *name_scratch_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&name_scratches, &cpu);
}

/* Is the name that ends at the first zero behind `from` (kernel memory) one of the target's? It stays in scratch. */
static __noinline int is_target_name(struct name_scratch *s, const void *from)
{
	if (!s || !from)
		return 0;
	__builtin_memset(&s->name, 0, sizeof(s->name));
	if (bpf_probe_read_kernel_str(s->name.name, sizeof(s->name.name), from) <= 1)
		return 0;
	return bpf_map_lookup_elem(&target_names, &s->name) ? 1 : 0;
}

struct name_scan {
	struct name_scratch *s;
};

static long path_scan(__u32 i, struct name_scan *scan)
{
	char c = scan->s->text[i & (NAME_TEXT_BYTES - 1)];

	if (c == '/')
		scan->s->scan.base = i + 1;
	return c == 0;
}

static long argument_scan(__u32 i, struct name_scan *scan)
{
	return usc_scan_argument(&scan->s->scan, scan->s->text, i);
}

/* Is the path that stands in scratch, up to its first zero, one of a target's? Inline: calls may be eight deep. */
static __always_inline int path_matches(struct name_scratch *s)
{
	struct name_scan scan = {.s = s};

	if (!s)
		return 0;
	s->scan.base = 0;
	bpf_loop(NAME_TEXT_BYTES, path_scan, &scan, 0);
	return is_target_name(s, s->text + (s->scan.base & (NAME_TEXT_BYTES - 1)));
}

/* The name given to exec: of a script it is its own, of a link the link's. */
static __noinline int file_name_matches(struct name_scratch *s, const char *path)
{
	if (!s || bpf_probe_read_kernel_str(s->text, NAME_TEXT_BYTES, path) <= 1)
		return 0;
	return path_matches(s);
}

/* The current process's argument 0 and, where it has a `language`, what it was told to interpret. Like the next one a
 * function on its own for the verifier, which looks at its many branches once. */
__noinline int arguments_match(__u32 language)
{
	struct name_scratch *s = name_scratch_here();
	struct task_struct *task = bpf_get_current_task_btf();
	struct name_scan scan = {.s = s};
	__u64 start = BPF_CORE_READ(task, mm, arg_start), bytes = BPF_CORE_READ(task, mm, arg_end) - start;

	if (!s)
		return 0;
	if (bytes > USC_ARGUMENT_BYTES - 1)
		bytes = USC_ARGUMENT_BYTES - 1;
	if (bpf_probe_read_user(s->text, bytes, (void *)start))
		return 0;
	s->text[bytes & (USC_ARGUMENT_BYTES - 1)] = 0;
	if (path_matches(s))
		return 1;
	if (!language)
		return 0;
	__builtin_memset(&s->scan, 0, sizeof(s->scan));
	s->scan.language = language;
	/* With the NUL behind the last one, and no further: what lies there is another process's. */
	bpf_loop((bytes & (USC_ARGUMENT_BYTES - 1)) + 1, argument_scan, &scan, 0);
	return s->scan.found && is_target_name(s, s->text + (s->scan.base & (USC_ARGUMENT_BYTES - 1)));
}

__noinline __u32 language_of(__u64 word)
{
	return usc_language_of(word);
}

/* By the executable's name and, of the current process, by its arguments. */
static __noinline int executable_matches(struct task_struct *task)
{
	struct name_scratch *s = name_scratch_here();

	if (!s)
		return 0;
	if (is_target_name(s, BPF_CORE_READ(task, mm, exe_file, f_path.dentry, d_name.name)))
		return 1;
	if (BPF_CORE_READ(task, tgid) != bpf_get_current_pid_tgid() >> 32)
		return 0;
	return arguments_match(language_of(*(__u64 *)s->name.name));
}

/* In on_exec: does the new image match? */
static __noinline int image_matches(struct task_struct *task, struct linux_binprm *bprm)
{
	return file_name_matches(name_scratch_here(), BPF_CORE_READ(bprm, filename)) ||
	       is_target_name(name_scratch_here(), task->comm) || executable_matches(task);
}

struct cgroup_walk {
	struct cgroup *group;
	__u32 found;
};

static long cgroup_step(__u32 i, struct cgroup_walk *walk)
{
	struct cgroup_subsys_state *parent;
	struct cgroup *group = walk->group;
	__u64 id = BPF_CORE_READ(group, kn, id);

	if (bpf_map_lookup_elem(&target_cgroups, &id)) {
		walk->found = 1;
		return 1;
	}
	parent = BPF_CORE_READ(group, self.parent);
	walk->group = (void *)parent - bpf_core_field_offset(struct cgroup, self);
	return parent == 0;
}

static __noinline int cgroup_matches(struct task_struct *task)
{
	struct cgroup_walk walk = {.group = BPF_CORE_READ(task, cgroups, dfl_cgrp)};

	bpf_loop(MOST_CGROUP_LEVELS, cgroup_step, &walk, 0);
	return walk.found;
}

static __always_inline __u64 cgroup_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

struct cgroup_path {
	struct text_scratch *text;
	struct kernfs_node *node;
	__u32 bytes;
	__u32 done;
};

/* One step outwards: a component's name. */
static long cgroup_path_step(__u32 i, struct cgroup_path *walk)
{
	struct kernfs_node *node = walk->node, *parent;
	struct kernfs_node___v61 *v61 = (void *)node;
	__u32 at = walk->bytes;
	long bytes;

	parent = bpf_core_field_exists(node->__parent) ? BPF_CORE_READ(node, __parent) : BPF_CORE_READ(v61, parent);
	if (!parent) {
		walk->done = 1;
		return 1;
	}
	if (at > USC_PATH_BYTES)
		return 1;
	bytes = bpf_probe_read_kernel_str(walk->text->cgroup.path + at, NAME_BYTES, BPF_CORE_READ(node, name));
	if (bytes <= 0 || bytes > NAME_BYTES)
		return 1;
	walk->bytes = at + bytes;
	walk->node = parent;
	return 0;
}

static __always_inline __u32 cgroup_components(struct task_struct *task, struct text_scratch *text)
{
	struct cgroup_path walk = {.text = text, .node = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn)};

	bpf_loop(PATH_COMPONENTS, cgroup_path_step, &walk, 0);
	text->cgroup.truncated = !walk.done;
	return walk.bytes;
}

/* The process's number in the tracer's pid namespace is one of those wanted. */
static __noinline int number_matches(struct task_struct *leader)
{
	struct pid *pid = BPF_CORE_READ(leader, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level), number = 0, i;
	struct pid_namespace *space;

	for (i = 0; i < MOST_PID_LEVELS && i <= level; i++) {
		bpf_core_read(&space, sizeof(space), &pid->numbers[i].ns);
		if (BPF_CORE_READ(space, ns.inum) == pid_namespace_ino)
			bpf_core_read(&number, sizeof(number), &pid->numbers[i].nr);
	}
	return number && bpf_map_lookup_elem(&target_pids, &number) ? 1 : 0;
}

/* Does the process itself match, whatever its ancestors do? Numbers count with names too: the tracer gives those of
 * processes that it has found. */
static __always_inline int process_matches(struct task_struct *leader, struct task_struct *task)
{
	if (config.target.kinds & USC_TARGET_CGROUP)
		return cgroup_matches(task);
	if (number_matches(leader))
		return 1;
	if (!(config.target.kinds & USC_TARGET_APP))
		return 0;
	return is_target_name(name_scratch_here(), leader->comm) || executable_matches(task);
}

struct ancestor_walk {
	struct task_struct *task;
	__u32 found;
};

static long ancestor_step(__u32 i, struct ancestor_walk *walk)
{
	struct task_struct *task = walk->task;

	task = BPF_CORE_READ(task, real_parent, group_leader);
	walk->task = task;
	if (!task || !BPF_CORE_READ(task, tgid))
		return 1;
	if (!process_matches(task, task))
		return 0;
	walk->found = 1;
	return 1;
}

static __noinline int ancestor_matches(struct task_struct *leader)
{
	struct ancestor_walk walk = {.task = leader};

	bpf_loop(MOST_ANCESTORS, ancestor_step, &walk, 0);
	return walk.found;
}

#endif
