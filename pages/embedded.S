/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* The files that scripts/pages.sh makes, as bytes of the program: cli/pages/bundles.cpp reads them. */
#define TEXT_OF(word) #word
#define PATH_OF(folder, name) TEXT_OF(folder/name)

.macro embed symbol, path
	.global \symbol
	.global \symbol\()_end
\symbol:
	.incbin "\path"
\symbol\()_end:
	.byte 0
.endm

.section .rodata
embed uscope_page_report_js, PATH_OF(PAGES, report.js)
embed uscope_page_report_css, PATH_OF(PAGES, report.css)
embed uscope_page_diff_js, PATH_OF(PAGES, diff.js)
embed uscope_page_diff_css, PATH_OF(PAGES, diff.css)
embed uscope_page_deadlock_js, PATH_OF(PAGES, deadlock.js)
embed uscope_page_deadlock_css, PATH_OF(PAGES, deadlock.css)

.section .note.GNU-stack, "", @progbits
