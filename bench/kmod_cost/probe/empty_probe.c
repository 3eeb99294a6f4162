// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* What any module pays that is called at every system call: two probes that do nothing. */
#include <linux/module.h>
#include <linux/tracepoint.h>

static struct tracepoint *enter, *leave;

static void on_enter(void* data, struct pt_regs* regs, long id) {}

static void on_exit(void* data, struct pt_regs* regs, long result) {}

static void see(struct tracepoint* tracepoint, void* unused) {
  if (!strcmp(tracepoint->name, "sys_enter")) enter = tracepoint;
  if (!strcmp(tracepoint->name, "sys_exit")) leave = tracepoint;
}

static int __init probe_init(void) {
  int error;

  for_each_kernel_tracepoint(see, NULL);
  if (!enter || !leave) return -ENODEV;
  error = tracepoint_probe_register(enter, on_enter, NULL);
  if (error) return error;
  error = tracepoint_probe_register(leave, on_exit, NULL);
  if (error) tracepoint_probe_unregister(enter, on_enter, NULL);
  return error;
}

static void __exit probe_exit(void) {
  tracepoint_probe_unregister(leave, on_exit, NULL);
  tracepoint_probe_unregister(enter, on_enter, NULL);
  tracepoint_synchronize_unregister();
}

module_init(probe_init);
module_exit(probe_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Empty probes, the yardstick of uscope's module");
