/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* rows.c: unwind tables. */
#ifndef USCOPE_KMOD_ROWS_H
#define USCOPE_KMOD_ROWS_H

struct usc_device_file;
struct usc_device_table;

int usc_table_load(struct usc_device_table *request);
int usc_file_publish(const struct usc_device_file *request);
int usc_files_release(const u32 *serials, u32 count);
void usc_tables_free(void);

#endif
