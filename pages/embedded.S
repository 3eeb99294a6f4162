/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* The files that scripts/pages.sh makes, as bytes of the program: cli/pages/bundles.cpp reads them. The assembler finds them
   by -I. */
.macro embed symbol, file
	.global \symbol
	.global \symbol\()_end
\symbol:
	.incbin "\file"
\symbol\()_end:
	.byte 0
.endm

.section .rodata
embed uscope_page_report_js, "report.js"
embed uscope_page_report_css, "report.css"
embed uscope_page_diff_js, "diff.js"
embed uscope_page_diff_css, "diff.css"
embed uscope_page_deadlock_js, "deadlock.js"
embed uscope_page_deadlock_css, "deadlock.css"

.section .note.GNU-stack, "", @progbits
