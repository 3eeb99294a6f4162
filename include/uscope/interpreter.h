/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * What an interpreter interprets, by its arguments: `python3 -W ignore /srv/serve.py` goes by the name serve.py (docs/cli.md,
 * "record"). The kernel side looks at an exec, the tracer at processes that run already; both use what is here. A look goes
 * through the arguments once, byte by byte, and keeps nothing but struct usc_argument_scan. It knows which options take a
 * value and which give the code itself; what it does not know counts as an option without a value.
 */
#ifndef USCOPE_INTERPRETER_H
#define USCOPE_INTERPRETER_H

#include "uscope/base/base.h"

/* The first eight bytes of a name as a number, as a little-endian machine reads them. */
#define USC_WORD(a, b, c, d, e, f, g)                                                                                  \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 | (__u64)(f) << 40 |    \
	 (__u64)(g) << 48)

/* Is this the name, up to a version number behind it? `length` is that of the name, at most 7. */
USC_INLINE int usc_is_versioned(__u64 word, __u64 name, __u32 length)
{
	__u64 mask = (1ull << length * 8) - 1;
	__u32 next = word >> length * 8 & 0xff;

	return (word & mask) == name && (next == 0 || next == '.' || next == '-' || (next >= '0' && next <= '9'));
}

/* Languages whose programs interpret a file that an argument names. For others, an argument is no name of the
 * application: `grep nginx` is not nginx. */
enum usc_language {
	USC_NO_LANGUAGE,
	USC_SHELL,
	USC_PYTHON,
	USC_PERL,
	USC_RUBY,
	USC_PHP,
	USC_NODE,
	USC_LUA,
	USC_TCL,
	USC_GUILE,
	USC_JAVA,
	USC_LOADER,	   /* the dynamic loader, told to run a program */
	USC_LANGUAGES = 16 /* a power of two, so that the verifier sees the bound */
};

USC_INLINE int usc_is_shell(__u64 word)
{
	return usc_is_versioned(word, USC_WORD('s', 'h', 0, 0, 0, 0, 0), 2) ||
	       usc_is_versioned(word, USC_WORD('a', 's', 'h', 0, 0, 0, 0), 3) ||
	       usc_is_versioned(word, USC_WORD('b', 'a', 's', 'h', 0, 0, 0), 4) ||
	       usc_is_versioned(word, USC_WORD('d', 'a', 's', 'h', 0, 0, 0), 4) ||
	       usc_is_versioned(word, USC_WORD('k', 's', 'h', 0, 0, 0, 0), 3) ||
	       usc_is_versioned(word, USC_WORD('z', 's', 'h', 0, 0, 0, 0), 3);
}

/* ld-linux-x86-64.so.2, ld-musl-x86_64.so.1, ld.so, ld-2.31.so: not the linker, ld. */
USC_INLINE int usc_is_loader(__u64 word)
{
	const __u64 seven = (1ull << 56) - 1, five = (1ull << 40) - 1;

	return (word & seven) == USC_WORD('l', 'd', '-', 'l', 'i', 'n', 'u') ||
	       (word & seven) == USC_WORD('l', 'd', '-', 'm', 'u', 's', 'l') ||
	       (word & five) == USC_WORD('l', 'd', '.', 's', 'o', 0, 0) ||
	       (word & five) == USC_WORD('l', 'd', '-', '2', '.', 0, 0);
}

/* What a program of this name interprets. `word`: the name's first eight bytes, zeroes behind its end. */
USC_INLINE __u32 usc_language_of(__u64 word)
{
	if (usc_is_shell(word))
		return USC_SHELL;
	if (usc_is_versioned(word, USC_WORD('p', 'y', 't', 'h', 'o', 'n', 0), 6))
		return USC_PYTHON;
	if (usc_is_versioned(word, USC_WORD('p', 'e', 'r', 'l', 0, 0, 0), 4))
		return USC_PERL;
	if (usc_is_versioned(word, USC_WORD('r', 'u', 'b', 'y', 0, 0, 0), 4))
		return USC_RUBY;
	if (usc_is_versioned(word, USC_WORD('p', 'h', 'p', 0, 0, 0, 0), 3))
		return USC_PHP;
	if (usc_is_versioned(word, USC_WORD('n', 'o', 'd', 'e', 0, 0, 0), 4) ||
	    usc_is_versioned(word, USC_WORD('n', 'o', 'd', 'e', 'j', 's', 0), 6))
		return USC_NODE;
	if (usc_is_versioned(word, USC_WORD('l', 'u', 'a', 0, 0, 0, 0), 3))
		return USC_LUA;
	if (usc_is_versioned(word, USC_WORD('t', 'c', 'l', 's', 'h', 0, 0), 5))
		return USC_TCL;
	if (usc_is_versioned(word, USC_WORD('g', 'u', 'i', 'l', 'e', 0, 0), 5))
		return USC_GUILE;
	if (usc_is_versioned(word, USC_WORD('j', 'a', 'v', 'a', 0, 0, 0), 4))
		return USC_JAVA;
	if (usc_is_loader(word))
		return USC_LOADER;
	return USC_NO_LANGUAGE;
}

/* What an option of an interpreter means for the arguments behind it. */
enum usc_option {
	USC_OPTION_PLAIN, /* nothing */
	USC_OPTION_CODE,  /* the code itself is given, or comes by the standard input: there is no script */
	USC_OPTION_VALUE, /* the rest of the argument is its value, or the next argument if there is no rest */
	USC_OPTION_LATER, /* the next argument is its value, and other letters may follow in this one */
	USC_OPTION_REST,  /* the rest of the argument is its value, even if there is none */
	USC_OPTION_NAME	  /* the rest of the argument is the script's name; without one, the next that is no option */
};

#define USC_LETTER(c) (1ull << ((c) - 'A'))

/* An interpreter's options of one letter, each a bit by USC_LETTER. Those that are in no set are plain. */
struct usc_letters {
	__u64 code;
	__u64 value;
	__u64 later;
	__u64 rest;
	__u64 name;
};

/* By enum usc_language, from USC_NO_LANGUAGE on. */
static const struct usc_letters usc_letters_of[USC_LANGUAGES] __attribute__((unused)) = {
	{0, 0, 0, 0, 0},
	{USC_LETTER('c') | USC_LETTER('s'), 0, USC_LETTER('o') | USC_LETTER('O'), 0, 0},
	{USC_LETTER('c'), USC_LETTER('W') | USC_LETTER('X') | USC_LETTER('Q'), 0, 0, USC_LETTER('m')},
	{USC_LETTER('e') | USC_LETTER('E'), USC_LETTER('I'), 0,
	 USC_LETTER('C') | USC_LETTER('D') | USC_LETTER('F') | USC_LETTER('M') | USC_LETTER('i') | USC_LETTER('m') |
		 USC_LETTER('x'),
	 0},
	{USC_LETTER('e'), USC_LETTER('C') | USC_LETTER('E') | USC_LETTER('I') | USC_LETTER('X') | USC_LETTER('r'), 0,
	 USC_LETTER('F') | USC_LETTER('K') | USC_LETTER('T') | USC_LETTER('W') | USC_LETTER('i') | USC_LETTER('x'), 0},
	{USC_LETTER('B') | USC_LETTER('E') | USC_LETTER('R') | USC_LETTER('r'),
	 USC_LETTER('S') | USC_LETTER('c') | USC_LETTER('d') | USC_LETTER('g') | USC_LETTER('t') | USC_LETTER('y') |
		 USC_LETTER('z'),
	 0, 0, USC_LETTER('F') | USC_LETTER('f')},
	{USC_LETTER('e') | USC_LETTER('p'), USC_LETTER('C') | USC_LETTER('r'), 0, 0, 0},
	{0, USC_LETTER('e') | USC_LETTER('l'), 0, 0, 0},
	{0, 0, 0, 0, 0},
	{USC_LETTER('c'), USC_LETTER('C') | USC_LETTER('L') | USC_LETTER('e') | USC_LETTER('l') | USC_LETTER('x'), 0, 0,
	 USC_LETTER('s')},
	{0, 0, 0, 0, 0},
	{0, 0, 0, 0, 0},
	{0, 0, 0, 0, 0},
	{0, 0, 0, 0, 0},
	{0, 0, 0, 0, 0},
	{0, 0, 0, 0, 0},
};

USC_INLINE __u32 usc_letter_option(__u32 language, char c)
{
	const struct usc_letters *letters = &usc_letters_of[language & (USC_LANGUAGES - 1)];
	__u64 letter;

	if (c == ':') /* perl -d:Module, ruby -W:category */
		return USC_OPTION_REST;
	if (c < 'A' || c > 'z')
		return USC_OPTION_PLAIN;
	letter = USC_LETTER(c);
	if (letters->code & letter)
		return USC_OPTION_CODE;
	if (letters->value & letter)
		return USC_OPTION_VALUE;
	if (letters->later & letter)
		return USC_OPTION_LATER;
	if (letters->rest & letter)
		return USC_OPTION_REST;
	return letters->name & letter ? USC_OPTION_NAME : USC_OPTION_PLAIN;
}

/* A name of several letters, by its length and its last eight letters, the last one lowest. */
struct usc_named_option {
	__u64 tail;
	__u16 length;
	__u8 language; /* enum usc_language */
	__u8 option;   /* enum usc_option */
	__u32 pad;
};

#define USC_TAIL(a, b, c, d, e, f, g, h)                                                                               \
	((__u64)(a) << 56 | (__u64)(b) << 48 | (__u64)(c) << 40 | (__u64)(d) << 32 | (__u64)(e) << 24 |                \
	 (__u64)(f) << 16 | (__u64)(g) << 8 | (__u64)(h))
#define USC_LONG_OPTIONS 56

/* Those that are not plain. Java and tclsh write them behind one dash. */
static const struct usc_named_option usc_long_options[USC_LONG_OPTIONS] __attribute__((unused)) = {
	{USC_TAIL(0, 0, 'r', 'c', 'f', 'i', 'l', 'e'), 6, USC_SHELL, USC_OPTION_VALUE, 0},     /* rcfile */
	{USC_TAIL('n', 'i', 't', '-', 'f', 'i', 'l', 'e'), 9, USC_SHELL, USC_OPTION_VALUE, 0}, /* init-file */
	{USC_TAIL(0, 'e', 'm', 'u', 'l', 'a', 't', 'e'), 7, USC_SHELL, USC_OPTION_VALUE, 0},   /* emulate */
	{USC_TAIL('s', 'e', 'd', '-', 'p', 'y', 'c', 's'), 21, USC_PYTHON, USC_OPTION_VALUE,
	 0}, /* check-hash-based-pycs */
	{USC_TAIL('e', 'n', 'c', 'o', 'd', 'i', 'n', 'g'), 8, USC_RUBY, USC_OPTION_VALUE, 0}, /* encoding */
	{USC_TAIL('e', 'n', 'c', 'o', 'd', 'i', 'n', 'g'), 17, USC_RUBY, USC_OPTION_VALUE,
	 0},										      /* external-, internal- */
	{USC_TAIL(0, 0, 'e', 'n', 'a', 'b', 'l', 'e'), 6, USC_RUBY, USC_OPTION_VALUE, 0},     /* enable */
	{USC_TAIL(0, 'd', 'i', 's', 'a', 'b', 'l', 'e'), 7, USC_RUBY, USC_OPTION_VALUE, 0},   /* disable */
	{USC_TAIL(0, 0, 0, 0, 0, 'r', 'u', 'n'), 3, USC_PHP, USC_OPTION_CODE, 0},	      /* run */
	{USC_TAIL('e', 's', 's', '-', 'c', 'o', 'd', 'e'), 12, USC_PHP, USC_OPTION_CODE, 0},  /* process-code */
	{USC_TAIL('s', 's', '-', 'b', 'e', 'g', 'i', 'n'), 13, USC_PHP, USC_OPTION_CODE, 0},  /* process-begin */
	{USC_TAIL('c', 'e', 's', 's', '-', 'e', 'n', 'd'), 11, USC_PHP, USC_OPTION_CODE, 0},  /* process-end */
	{USC_TAIL(0, 0, 'd', 'e', 'f', 'i', 'n', 'e'), 6, USC_PHP, USC_OPTION_VALUE, 0},      /* define */
	{USC_TAIL(0, 'p', 'h', 'p', '-', 'i', 'n', 'i'), 7, USC_PHP, USC_OPTION_VALUE, 0},    /* php-ini */
	{USC_TAIL('x', 't', 'e', 'n', 's', 'i', 'o', 'n'), 14, USC_PHP, USC_OPTION_VALUE, 0}, /* zend-extension */
	{USC_TAIL(0, 0, 's', 'e', 'r', 'v', 'e', 'r'), 6, USC_PHP, USC_OPTION_VALUE, 0},      /* server */
	{USC_TAIL(0, 'd', 'o', 'c', 'r', 'o', 'o', 't'), 7, USC_PHP, USC_OPTION_VALUE, 0},    /* docroot */
	{USC_TAIL('m', '-', 'c', 'o', 'n', 'f', 'i', 'g'), 10, USC_PHP, USC_OPTION_VALUE, 0}, /* fpm-config */
	{USC_TAIL(0, 0, 'p', 'r', 'e', 'f', 'i', 'x'), 6, USC_PHP, USC_OPTION_VALUE, 0},      /* prefix */
	{USC_TAIL(0, 0, 0, 0, 'f', 'i', 'l', 'e'), 4, USC_PHP, USC_OPTION_NAME, 0},	      /* file */
	{USC_TAIL('e', 's', 's', '-', 'f', 'i', 'l', 'e'), 12, USC_PHP, USC_OPTION_NAME, 0},  /* process-file */
	{USC_TAIL(0, 0, 0, 0, 'e', 'v', 'a', 'l'), 4, USC_NODE, USC_OPTION_CODE, 0},	      /* eval */
	{USC_TAIL(0, 0, 0, 'p', 'r', 'i', 'n', 't'), 5, USC_NODE, USC_OPTION_CODE, 0},	      /* print */
	{USC_TAIL(0, 'r', 'e', 'q', 'u', 'i', 'r', 'e'), 7, USC_NODE, USC_OPTION_VALUE, 0},   /* require */
	{USC_TAIL(0, 0, 'i', 'm', 'p', 'o', 'r', 't'), 6, USC_NODE, USC_OPTION_VALUE, 0},     /* import */
	{USC_TAIL(0, 0, 'l', 'o', 'a', 'd', 'e', 'r'), 6, USC_NODE, USC_OPTION_VALUE, 0},     /* loader */
	{USC_TAIL('l', '-', 'l', 'o', 'a', 'd', 'e', 'r'), 19, USC_NODE, USC_OPTION_VALUE, 0}, /* experimental-loader */
	{USC_TAIL('n', 'd', 'i', 't', 'i', 'o', 'n', 's'), 10, USC_NODE, USC_OPTION_VALUE, 0}, /* conditions */
	{USC_TAIL('e', 'n', 'v', '-', 'f', 'i', 'l', 'e'), 8, USC_NODE, USC_OPTION_VALUE, 0},  /* env-file */
	{USC_TAIL('p', 'u', 't', '-', 't', 'y', 'p', 'e'), 10, USC_NODE, USC_OPTION_VALUE, 0}, /* input-type */
	{USC_TAIL('w', 'a', 'r', 'n', 'i', 'n', 'g', 's'), 17, USC_NODE, USC_OPTION_VALUE, 0}, /* redirect-warnings */
	{USC_TAIL('j', 'e', 'c', 't', 'i', 'o', 'n', 's'), 20, USC_NODE, USC_OPTION_VALUE,
	 0}, /* unhandled-rejections */
	{USC_TAIL('l', '-', 'c', 'o', 'n', 'f', 'i', 'g'), 14, USC_NODE, USC_OPTION_VALUE, 0}, /* openssl-config */
	{USC_TAIL('d', 'a', 't', 'a', '-', 'd', 'i', 'r'), 12, USC_NODE, USC_OPTION_VALUE, 0}, /* icu-data-dir */
	{USC_TAIL(0, 0, 0, 't', 'i', 't', 'l', 'e'), 5, USC_NODE, USC_OPTION_VALUE, 0},	       /* title */
	{USC_TAIL('e', 'n', 'c', 'o', 'd', 'i', 'n', 'g'), 8, USC_TCL, USC_OPTION_VALUE, 0},   /* encoding */
	{USC_TAIL(0, 0, 0, 0, 0, 0, 'c', 'p'), 2, USC_JAVA, USC_OPTION_VALUE, 0},	       /* cp */
	{USC_TAIL('l', 'a', 's', 's', 'p', 'a', 't', 'h'), 9, USC_JAVA, USC_OPTION_VALUE, 0},  /* classpath */
	{USC_TAIL('a', 's', 's', '-', 'p', 'a', 't', 'h'), 10, USC_JAVA, USC_OPTION_VALUE, 0}, /* class-path */
	{USC_TAIL(0, 0, 0, 0, 0, 0, 0, 'p'), 1, USC_JAVA, USC_OPTION_VALUE, 0},		       /* p */
	{USC_TAIL('u', 'l', 'e', '-', 'p', 'a', 't', 'h'), 11, USC_JAVA, USC_OPTION_VALUE, 0}, /* module-path */
	{USC_TAIL('u', 'l', 'e', '-', 'p', 'a', 't', 'h'), 19, USC_JAVA, USC_OPTION_VALUE, 0}, /* upgrade-module-path */
	{USC_TAIL('-', 'm', 'o', 'd', 'u', 'l', 'e', 's'), 11, USC_JAVA, USC_OPTION_VALUE, 0}, /* add-modules */
	{USC_TAIL('d', 'd', '-', 'o', 'p', 'e', 'n', 's'), 9, USC_JAVA, USC_OPTION_VALUE, 0},  /* add-opens */
	{USC_TAIL('-', 'e', 'x', 'p', 'o', 'r', 't', 's'), 11, USC_JAVA, USC_OPTION_VALUE, 0}, /* add-exports */
	{USC_TAIL('d', 'd', '-', 'r', 'e', 'a', 'd', 's'), 9, USC_JAVA, USC_OPTION_VALUE, 0},  /* add-reads */
	{USC_TAIL('-', 'm', 'o', 'd', 'u', 'l', 'e', 's'), 13, USC_JAVA, USC_OPTION_VALUE, 0}, /* limit-modules */
	{USC_TAIL('h', '-', 'm', 'o', 'd', 'u', 'l', 'e'), 12, USC_JAVA, USC_OPTION_VALUE, 0}, /* patch-module */
	{USC_TAIL(0, 0, 's', 'o', 'u', 'r', 'c', 'e'), 6, USC_JAVA, USC_OPTION_VALUE, 0},      /* source */
	{USC_TAIL('a', 'r', 'y', '-', 'p', 'a', 't', 'h'), 12, USC_LOADER, USC_OPTION_VALUE, 0}, /* library-path */
	{USC_TAIL('i', 't', '-', 'r', 'p', 'a', 't', 'h'), 13, USC_LOADER, USC_OPTION_VALUE, 0}, /* inhibit-rpath */
	{USC_TAIL(0, 0, 0, 'a', 'u', 'd', 'i', 't'), 5, USC_LOADER, USC_OPTION_VALUE, 0},	 /* audit */
	{USC_TAIL(0, 'p', 'r', 'e', 'l', 'o', 'a', 'd'), 7, USC_LOADER, USC_OPTION_VALUE, 0},	 /* preload */
	{USC_TAIL(0, 0, 0, 'a', 'r', 'g', 'v', '0'), 5, USC_LOADER, USC_OPTION_VALUE, 0},	 /* argv0 */
	{USC_TAIL('-', 'p', 'r', 'e', 'p', 'e', 'n', 'd'), 20, USC_LOADER, USC_OPTION_VALUE,
	 0}, /* glibc-hwcaps-prepend */
	{USC_TAIL('a', 'p', 's', '-', 'm', 'a', 's', 'k'), 17, USC_LOADER, USC_OPTION_VALUE, 0}, /* glibc-hwcaps-mask */
};

USC_INLINE __u32 usc_option_named(__u32 language, __u64 tail, __u32 length)
{
	__u32 i;

	for (i = 0; i < USC_LONG_OPTIONS; i++) {
		const struct usc_named_option *option = &usc_long_options[i];

		if (option->tail == tail && option->length == length && option->language == language)
			return option->option;
	}
	return USC_OPTION_PLAIN;
}

#define USC_ARGUMENT_BYTES 2048 /* looked at of a process's arguments; a power of two */

/* What the byte at which a look through arguments stands belongs to. */
enum usc_argument {
	USC_ARGUMENT_SKIPPED, /* argument 0, or a value */
	USC_ARGUMENT_BEGINS,
	USC_ARGUMENT_DASH,    /* one dash has been read */
	USC_ARGUMENT_LETTERS, /* options of one letter */
	USC_ARGUMENT_LONG,    /* the name of a long option */
	USC_ARGUMENT_VALUE,   /* the rest, if any, is an option's value */
	USC_ARGUMENT_NAMED,   /* the rest, if any, is the script's name */
	USC_ARGUMENT_NAME     /* the script's name */
};

/* Where a look through the arguments of an interpreter is. It begins with its language and zeroes. */
struct usc_argument_scan {
	__u64 tail;	/* of a long option's name, as in usc_long_options */
	__u32 length;	/* of that */
	__u32 language; /* enum usc_language */
	__u32 at;	/* enum usc_argument */
	__u32 next;	/* what the next argument is: USC_ARGUMENT_SKIPPED or _NAME if that is known, else 0 */
	__u32 base;	/* where the name begins, behind its last slash */
	__u32 found;
};

/* A long option ends, at a NUL or at the `=` before its value. 1: the search has ended. */
USC_INLINE int usc_end_long_option(struct usc_argument_scan *scan, char c, __u32 i)
{
	__u32 option = usc_option_named(scan->language, scan->tail, scan->length);

	if (option == USC_OPTION_CODE)
		return 1;
	if (c == '=') {
		scan->at = option == USC_OPTION_NAME ? USC_ARGUMENT_NAME : USC_ARGUMENT_SKIPPED;
		scan->base = i + 1;
	} else if (!scan->length) {
		scan->next = USC_ARGUMENT_NAME; /* -- ends the options */
	} else if (option == USC_OPTION_VALUE) {
		scan->next = USC_ARGUMENT_VALUE;
	}
	return 0;
}

/* One letter of an argument such as -eu. 1: the search has ended. */
USC_INLINE int usc_take_letter(struct usc_argument_scan *scan, char c, __u32 i)
{
	__u32 option = usc_letter_option(scan->language, c);

	scan->at = USC_ARGUMENT_LETTERS;
	if (option == USC_OPTION_CODE)
		return 1;
	if (option == USC_OPTION_VALUE)
		scan->at = USC_ARGUMENT_VALUE;
	else if (option == USC_OPTION_REST)
		scan->at = USC_ARGUMENT_SKIPPED;
	else if (option == USC_OPTION_LATER)
		scan->next = USC_ARGUMENT_VALUE;
	else if (option == USC_OPTION_NAME) {
		scan->at = USC_ARGUMENT_NAMED;
		scan->base = i + 1;
	}
	return 0;
}

/* The first byte of an argument behind number 0 of which nothing is known yet. 1: the search has ended. */
USC_INLINE int usc_begin_argument(struct usc_argument_scan *scan, char c)
{
	if (c == '-')
		scan->at = USC_ARGUMENT_DASH;
	else if (c == '+' && scan->language == USC_SHELL)
		scan->at = USC_ARGUMENT_LETTERS;
	else if (c == '@' && scan->language == USC_JAVA) /* a file of arguments */
		scan->at = USC_ARGUMENT_SKIPPED;
	else
		scan->at = USC_ARGUMENT_NAME;
	return 0;
}

/* The byte behind a dash. 1: the search has ended. */
USC_INLINE int usc_behind_dash(struct usc_argument_scan *scan, char c, __u32 i)
{
	if (!c) { /* the standard input; to a shell the same as -- */
		scan->next = USC_ARGUMENT_NAME;
		return scan->language != USC_SHELL;
	}
	if (c != '-' && scan->language != USC_JAVA && scan->language != USC_TCL)
		return usc_take_letter(scan, c, i);
	scan->at = USC_ARGUMENT_LONG;
	scan->length = c != '-';
	scan->tail = c != '-' ? c : 0;
	return 0;
}

/*
 * Looks for what an interpreter was told to interpret: the first argument behind number 0 that is neither an option nor
 * an option's value; of `python3 -m http.server` it is the module, of `java` the class or the file behind -jar. If an
 * option gives the code itself (sh -c, perl -e), there is none. Called with i = 0, 1, … for the bytes of the arguments,
 * each of which ends with a NUL. Returns 1 when the search has ended; if `found` is set, the name without folders stands
 * at text + base.
 */
USC_INLINE int usc_scan_argument(struct usc_argument_scan *scan, const char *text, __u32 i)
{
	char c = text[i & (USC_ARGUMENT_BYTES - 1)];
	int over = 0;

	if (c == '/')
		scan->base = i + 1;
	if (scan->at == USC_ARGUMENT_BEGINS)
		over = usc_begin_argument(scan, c);
	else if (scan->at == USC_ARGUMENT_DASH)
		over = usc_behind_dash(scan, c, i);
	else if (scan->at == USC_ARGUMENT_LETTERS && c)
		over = usc_take_letter(scan, c, i);
	else if (scan->at == USC_ARGUMENT_LONG && (!c || c == '='))
		over = usc_end_long_option(scan, c, i);
	else if (scan->at == USC_ARGUMENT_VALUE && !c)
		scan->next = USC_ARGUMENT_VALUE;
	else if (scan->at == USC_ARGUMENT_VALUE)
		scan->at = USC_ARGUMENT_SKIPPED;
	else if (scan->at == USC_ARGUMENT_NAMED && c)
		scan->at = USC_ARGUMENT_NAME;
	else if (scan->at == USC_ARGUMENT_LONG) {
		scan->tail = scan->tail << 8 | (__u8)c;
		scan->length++;
	}
	if (over || c)
		return over;
	if (scan->at == USC_ARGUMENT_NAME) {
		scan->found = 1;
		return 1;
	}
	scan->at = scan->next == USC_ARGUMENT_VALUE  ? USC_ARGUMENT_SKIPPED
		   : scan->next == USC_ARGUMENT_NAME ? USC_ARGUMENT_NAME
						     : USC_ARGUMENT_BEGINS;
	scan->next = 0;
	scan->base = i + 1;
	return 0;
}

#endif
