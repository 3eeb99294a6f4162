/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The few kernel types that the programs look into, with only the fields they use. The compiler records each access,
 * and libbpf adjusts it to the running kernel's BTF (CO-RE), so order and offsets here mean nothing. A name with
 * ___suffix is another kernel's layout of the same type.
 */
#ifndef USCOPE_BPF_KERNEL_TYPES_H
#define USCOPE_BPF_KERNEL_TYPES_H

#include <linux/types.h>

typedef _Bool bool;
#define true 1
#define false 0

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)
#include "x86_64/machine_types.h"
#endif

struct qstr {
	union {
		struct {
			__u32 hash;
			__u32 len;
		};
	};
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mnt_namespace;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	struct mnt_namespace *mnt_ns;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct super_block {
	__u32 s_dev;
	unsigned long s_flags;
	unsigned long s_magic;
};

typedef struct {
	__s64 counter;
} atomic64_t;

struct list_head {
	struct list_head *next;
};

struct file_lock_context {
	struct list_head flc_lease;
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
	long long i_size;
	__u32 i_generation;
	unsigned int i_nlink;
	atomic64_t i_version;
	struct file_lock_context *i_flctx;
};

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

/* i_ctime: a timespec64 up to 6.5, __i_ctime up to 6.10, two numbers from 6.11 on. */
struct inode___v61 {
	struct timespec64 i_ctime;
};

struct inode___v66 {
	struct timespec64 __i_ctime;
};

struct inode___v611 {
	__s64 i_ctime_sec;
	__u32 i_ctime_nsec;
};

struct file {
	unsigned int f_mode;
	struct inode *f_inode;
	struct path f_path;
	void *private_data;
};

/* From 6.7 on, its f_path is the file in the layer. Up to 6.6 that is the path by which the file was opened. */
struct backing_file {
	struct file file;
	struct path user_path;
};

struct sock_common {
	unsigned short skc_family;
};

struct sock {
	struct sock_common __sk_common;
};

struct socket {
	struct sock *sk;
};

struct mm_struct;

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct mm_struct {
	unsigned long start_code;
	unsigned long end_code;
	unsigned long arg_start;
	unsigned long arg_end;
	mm_context_t context;
	struct file *exe_file;
	unsigned long saved_auxv[44];
};

struct timens_offsets {
	struct timespec64 monotonic;
};

struct time_namespace {
	struct timens_offsets offsets;
};

struct ns_common {
	unsigned int inum;
};

struct mnt_namespace {
	struct ns_common ns;
};

struct nsproxy {
	struct time_namespace *time_ns;
	struct mnt_namespace *mnt_ns;
};

struct pid_namespace {
	struct ns_common ns;
};

/* Whole: `numbers` is indexed, and its stride is this one's. */
struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
	int group_exit_code;
	unsigned int flags;
};

typedef struct {
	unsigned long sig[1];
} sigset_t;

struct sigpending {
	sigset_t signal;
};

struct fs_struct {
	int users;
	struct path root;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	atomic_t count;
	struct fdtable *fdt;
};

struct notification;

struct seccomp_filter {
	struct seccomp_filter *prev;
	struct notification *notif;
};

struct seccomp {
	struct seccomp_filter *filter;
};

struct thread_info {
	__u32 status;
};

struct kernfs_node {
	__u64 id;
	const char *name;
	struct kernfs_node *__parent; /* from 6.15 on */
};

struct kernfs_node___v61 {
	struct kernfs_node *parent;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t euid;
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct uprobe_task {
	unsigned long xol_vaddr;
	unsigned long vaddr;
};

struct task_struct {
	struct thread_info thread_info;
	int pid;
	int tgid;
	int exit_code;
	unsigned int personality;
	char comm[16];
	__u64 start_time;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	struct css_set *cgroups;
	unsigned int on_cpu; /* a byte in 7.2; unsigned, or its size cannot be adapted */
	int exit_state;
	unsigned int flags;
	unsigned int ptrace;
	unsigned int __state;
	struct sched_entity se;
	struct pid *thread_pid;
	struct signal_struct *signal;
	const struct cred *real_cred;
	struct sigpending pending;
	sigset_t blocked;
	unsigned long sas_ss_sp;
	unsigned long sas_ss_size;
	struct fs_struct *fs;
	struct nsproxy *nsproxy;
	struct files_struct *files;
	struct seccomp seccomp;
	struct uprobe_task *utask;
	int *set_child_tid;
	void *io_uring; /* CONFIG_IO_URING */
	struct thread_struct thread;
};

struct linux_binprm {
	const char *filename;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
};

#pragma clang attribute pop

#define VM_WRITE 0x2ul
#define VM_EXEC 0x4ul
#define VM_MAYSHARE 0x80ul
#define PF_IO_WORKER 0x00000010
#define PF_FORKNOEXEC 0x00000040
#define PF_KTHREAD 0x00200000
#define PROT_READ 0x1
#define PROT_EXEC 0x4
#define READ_IMPLIES_EXEC 0x0400000
#define MAP_FIXED 0x10
#define SIGNAL_GROUP_EXIT 0x4

#endif
