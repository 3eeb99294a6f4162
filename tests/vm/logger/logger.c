// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * A module that logs: at each getppid, by a kprobe, an event of kind 7 with three values and both stacks; and inside
 * each rename, where the kernel holds rename_lock, an event of kind 8 with the user stack.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

#include "uscope_log.h"

static unsigned long logged, refused, renames;
module_param(logged, ulong, 0400);
module_param(renames, ulong, 0400);
module_param(refused, ulong, 0400);
static u64 number;

static int on_getppid(struct kprobe* probe, struct pt_regs* regs) {
  u64 values[3] = {number++, 0x1122334455667788ull, usc_task_traced()};

  if (usc_log_event(7, values, 3, USC_LOG_USER_STACK | USC_LOG_KERNEL_STACK) ||
      usc_log_named(values[0] % 2 ? "odd one" : "even", values, 3, USC_LOG_KERNEL_STACK))
    refused++;
  else
    logged++;
  return 0;
}

static int on_rename(struct kprobe* probe, struct pt_regs* regs) {
  if (!usc_log_event(8, NULL, 0, USC_LOG_USER_STACK)) renames++;
  return 0;
}

static int long_name(void) {
  char name[66] = {};

  memset(name, 'x', sizeof(name) - 1);
  return usc_log_named(name, NULL, 0, 0);
}

static struct kprobe probe = {.symbol_name = "__x64_sys_getppid", .pre_handler = on_getppid};
static struct kprobe rename_probe = {.symbol_name = "__d_move", .pre_handler = on_rename};

static int __init logger_init(void) {
  int error;

  if (usc_log_event(1, NULL, 7, 0) != -EINVAL || usc_log_event(1, NULL, 0, 4) != -EINVAL ||
      usc_log_event(0x80000000u, NULL, 0, 0) != -EINVAL || usc_log_named("", NULL, 0, 0) != -EINVAL ||
      long_name() != -EINVAL)
    return -EINVAL;
  error = register_kprobe(&probe);
  if (error) return error;
  error = register_kprobe(&rename_probe);
  if (error) unregister_kprobe(&probe);
  return error;
}

static void __exit logger_exit(void) {
  unregister_kprobe(&rename_probe);
  unregister_kprobe(&probe);
}

module_init(logger_init);
module_exit(logger_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Test of uscope's functions for other modules");
