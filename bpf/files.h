/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Files as core/ asks for them: who holds them, what identifies them, their paths. */
#ifndef USCOPE_BPF_FILES_H
#define USCOPE_BPF_FILES_H

#include "storage.h"

#define TMPFS 0x01021994ul	       /* linux/magic.h */
#define SUPER_KERNEL_MOUNT (1ul << 22) /* include/linux/fs.h: SB_KERNMOUNT */
#define FILE_MAY_BACK (3u << 24)
#define LAST_ERROR 4095 /* include/linux/err.h: MAX_ERRNO */

static __always_inline struct mount *mount_of(struct vfsmount *mnt)
{
	return (void *)mnt - bpf_core_field_offset(struct mount, mnt);
}

struct path_context {
	struct text_scratch *text;
};

/* One step outwards: a component's name, or across a mount. */
static long path_step(__u32 i, struct path_context *context)
{
	struct text_scratch *text = context->text;
	struct path_walk *walk = &text->walk;
	struct dentry *dentry = walk->dentry, *parent, *mount_root;
	struct mount *mount = walk->mount, *outer;
	__u32 at = walk->bytes;
	long bytes;

	if (dentry == walk->root_dentry &&
	    (void *)mount + bpf_core_field_offset(struct mount, mnt) == (void *)walk->root_mount) {
		walk->done = 1;
		return 1;
	}
	mount_root = BPF_CORE_READ(mount, mnt.mnt_root);
	parent = BPF_CORE_READ(dentry, d_parent);
	if (dentry == mount_root || dentry == parent) {
		outer = BPF_CORE_READ(mount, mnt_parent);
		if (outer == mount || dentry != mount_root) {
			walk->done = 1;
			return 1;
		}
		walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		walk->mount = outer;
		return 0;
	}
	if (at > USC_PATH_BYTES)
		return 1;
	bytes = bpf_probe_read_kernel_str(text->file.path + at, NAME_BYTES, BPF_CORE_READ(dentry, d_name.name));
	if (bytes <= 0 || bytes > NAME_BYTES)
		return 1;
	walk->bytes = at + bytes;
	walk->dentry = parent;
	return 0;
}

static __always_inline void read_ctime(struct inode *inode, struct usc_file_key *key)
{
	struct inode___v611 *v611 = (void *)inode;
	struct inode___v66 *v66 = (void *)inode;
	struct inode___v61 *v61 = (void *)inode;

	if (bpf_core_field_exists(v611->i_ctime_sec)) {
		key->ctime_sec = BPF_CORE_READ(v611, i_ctime_sec);
		/* From 6.13 on, bit 31 says that somebody has asked for the time (I_CTIME_QUERIED). */
		key->ctime_nsec = BPF_CORE_READ(v611, i_ctime_nsec) & ~(1u << 31);
	} else if (bpf_core_field_exists(v66->__i_ctime)) {
		key->ctime_sec = BPF_CORE_READ(v66, __i_ctime.tv_sec);
		key->ctime_nsec = BPF_CORE_READ(v66, __i_ctime.tv_nsec);
	} else {
		key->ctime_sec = BPF_CORE_READ(v61, i_ctime.tv_sec);
		key->ctime_nsec = BPF_CORE_READ(v61, i_ctime.tv_nsec);
	}
}

static __always_inline bool has_rings(struct task_struct *task)
{
	return bpf_core_field_exists(task->io_uring) && TASK_FIELD(task, io_uring);
}

/* More tries than the lock is held by those who map something, on another CPU. */
#define CODE_FILE_TRIES 256

struct code_file {
	struct task_struct *task;
	struct image_place *place;
	__u64 address;
	__u64 file;
};

static long on_code_vma(struct task_struct *task, struct vm_area_struct *vma, struct code_file *code)
{
	code->file = (__u64)BPF_CORE_READ(vma, vm_file);
	code->place->start = vma->vm_start;
	code->place->end = vma->vm_end;
	code->place->offset = vma->vm_pgoff * USC_PAGE_BYTES;
	return 0;
}

/* That task need not be the current one. */
static long try_code_file(__u32 i, struct code_file *code)
{
	return bpf_find_vma(code->task, code->address, on_code_vma, code, 0) != RESULT_EBUSY;
}

static __always_inline struct file *hold_image_file(struct task_struct *task, struct image_place *place)
{
	struct mm_struct *mm = task->mm;
	struct code_file code = {.task = task, .place = place};

	if (!mm)
		return 0;
	code.address = MM_FIELD(task, start_code);
	if (!mappings_are_closed())
		bpf_loop(CODE_FILE_TRIES, try_code_file, &code, 0);
	return code.file ? (struct file *)code.file : mm->exe_file;
}

static __always_inline struct file *hold_descriptor(struct task_struct *task, __u32 fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file *file = 0, **place;

	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	place = BPF_CORE_READ(table, fd);
	return bpf_probe_read_kernel(&file, sizeof(file), place + fd) ? 0 : file;
}

static __always_inline void describe_file(struct file *file, struct usc_passed *to)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);

	to->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	to->ino = BPF_CORE_READ(inode, i_ino);
	to->mode = BPF_CORE_READ(inode, i_mode);
	to->filesystem = BPF_CORE_READ(inode, i_sb, s_magic);
	to->links = BPF_CORE_READ(inode, i_nlink);
}

static __always_inline __u32 mount_space(struct task_struct *task)
{
	return BPF_CORE_READ(task, nsproxy, mnt_ns, ns.inum);
}

#define FILE_KIND 0170000 /* S_IFMT */
#define FILE_SOCKET 0140000
#define FAMILY_LOCAL 1 /* AF_UNIX */

static __always_inline bool is_local_socket(struct file *file)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);

	return (BPF_CORE_READ(file, f_inode, i_mode) & FILE_KIND) == FILE_SOCKET &&
	       BPF_CORE_READ(socket, sk, __sk_common.skc_family) == FAMILY_LOCAL;
}

static __always_inline void release_image_file(struct file *file)
{
}

static __always_inline bool is_memory(struct inode *inode)
{
	return BPF_CORE_READ(inode, i_sb, s_flags) & SUPER_KERNEL_MOUNT ||
	       (!BPF_CORE_READ(inode, i_nlink) && BPF_CORE_READ(inode, i_sb, s_magic) == TMPFS);
}

static __always_inline bool read_memory_key(struct file *file, struct usc_file_key *key)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);

	if (!is_memory(inode))
		return false;
	__builtin_memset(key, 0, sizeof(*key));
	key->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	key->ino = BPF_CORE_READ(inode, i_ino);
	return true;
}

static __always_inline void read_file_key(struct file *file, struct usc_file_key *key)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);

	__builtin_memset(key, 0, sizeof(*key));
	key->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	key->ino = BPF_CORE_READ(inode, i_ino);
	/* tmpfs counts here how often a file was truncated (from 6.1 on), however little time passed in between. */
	key->generation =
		is_memory(inode) ? BPF_CORE_READ(inode, i_version.counter) >> 1 : BPF_CORE_READ(inode, i_generation);
	key->size = BPF_CORE_READ(inode, i_size);
	read_ctime(inode, key);
}

static const char deleted[] = " (deleted)";

/* The name of memory that has one for people only (memfd), as the kernel shows it: one component. */
static __always_inline __u32 memory_name(struct dentry *dentry, struct text_scratch *text)
{
	long bytes = bpf_probe_read_kernel_str(text->file.path, NAME_BYTES, BPF_CORE_READ(dentry, d_name.name));

	if (bytes <= 0 || bytes > NAME_BYTES)
		return 0;
	bpf_probe_read_kernel(text->file.path + bytes - 1, sizeof(deleted), deleted);
	return bytes - 1 + sizeof(deleted);
}

/*
 * Whether a file is embedded in a backing_file: FMODE_BACKING, which is bit 25 up to 6.13 and bit 24 from then on. Another
 * file with one of these bits lies in no mount of the kernel's own (mnt_ns is MNT_NS_INTERNAL, an error), or on a file
 * system of the kernel's own.
 */
static __always_inline bool is_backing(struct file *file, struct mount *mount)
{
	long space = (long)BPF_CORE_READ(mount, mnt_ns);

	return BPF_CORE_READ(file, f_mode) & FILE_MAY_BACK && space < 0 && space >= -LAST_ERROR &&
	       !(BPF_CORE_READ(file, f_inode, i_sb, s_flags) & SUPER_KERNEL_MOUNT);
}

/*
 * The path by which a mapped file was opened, as the kernel's file_user_path(). On a file system of layers (overlayfs) the
 * mapping's own file is the one in the layer: it has the key and the breakpoints, but its path leads nobody to it.
 */
static __always_inline void opened_path(struct file *file, struct dentry **dentry, struct mount **mount)
{
	struct backing_file *backing = (void *)file;

	*dentry = BPF_CORE_READ(file, f_path.dentry);
	*mount = mount_of(BPF_CORE_READ(file, f_path.mnt));
	if (bpf_core_field_exists(backing->user_path) && is_backing(file, *mount)) {
		*dentry = BPF_CORE_READ(backing, user_path.dentry);
		*mount = mount_of(BPF_CORE_READ(backing, user_path.mnt));
	}
}

/* The path's components; `truncated` where not all of them fitted. */
static __always_inline __u32 path_components(struct task_struct *task, struct file *file, struct text_scratch *text)
{
	struct path_context context = {.text = text};
	struct dentry *dentry;
	struct mount *mount;

	opened_path(file, &dentry, &mount);
	if (dentry == BPF_CORE_READ(dentry, d_parent) && dentry != BPF_CORE_READ(mount, mnt.mnt_root))
		return memory_name(dentry, text);
	text->walk.dentry = dentry;
	text->walk.mount = mount;
	text->walk.root_dentry = BPF_CORE_READ(task, fs, root.dentry);
	text->walk.root_mount = BPF_CORE_READ(task, fs, root.mnt);
	text->walk.bytes = 0;
	text->walk.done = 0;
	bpf_loop(PATH_COMPONENTS, path_step, &context, 0);
	text->file.truncated = !text->walk.done;
	return text->walk.bytes;
}

static __always_inline __u32 file_links(struct file *file)
{
	return BPF_CORE_READ(file, f_inode, i_nlink);
}

static __always_inline bool has_lease(struct file *file)
{
	struct file_lock_context *locks;
	struct dentry *dentry;
	struct mount *mount;

	opened_path(file, &dentry, &mount);
	locks = BPF_CORE_READ(dentry, d_inode, i_flctx);
	return locks && BPF_CORE_READ(locks, flc_lease.next) !=
				(void *)locks + bpf_core_field_offset(struct file_lock_context, flc_lease);
}

static __always_inline __u32 known_file(const struct usc_file_key *key)
{
	__u32 *known = bpf_map_lookup_elem(&file_serials, key);

	return known ? *known : 0;
}

static __always_inline int enter_file(const struct usc_file_key *key, __u32 serial)
{
	return bpf_map_update_elem(&file_serials, key, &serial, BPF_NOEXIST);
}

static __always_inline void drop_file(const struct usc_file_key *key)
{
	bpf_map_delete_elem(&file_serials, key);
}

#endif
