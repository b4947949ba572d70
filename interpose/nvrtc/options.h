/* SPDX-License-Identifier: MIT */
/*
 * options: what the compiler options say about paths (docs/DESIGN.md B5, B6, B17)
 *
 * Purpose: tells the spelling of every -I directory, and whether the options let paths, the working directory or the
 * times of files reach the output.  It never interprets anything else: the text of every option stays in the key.
 * It knows the option forms that the real NVRTC accepts (measured: -Ix, -I x, -I=x, --include-path=x, --include-path x,
 * two strings or one, blanks around) and a list of options known to be harmless to path-neutral results. Anything else
 * binds (`unknown`): an option that it does not know, a known one in a form that NVRTC refuses or reads in a way that
 * was not measured, -Xptxas with any but a few values (it can pass -lineinfo inward), an absolute --pre-include.
 *
 * And it tells which options work on in later compiles of the process. What the search has not cleared (scripts/sticky
 * plays every option that a release knows) may be one: options that it does not know, in forms that NVRTC may accept,
 * and -Xptxas with what is not listed.
 *
 * A directory that is missed merely stays in the key as text. A directory seen where NVRTC sees something else (macro
 * text, the value of another option) would be wrong, so values of two-string options are skipped as NVRTC skips them.
 *
 * Calling sequence: options_read() on the host's array, use the fields, options_free().
 * Errors: -ENOMEM.
 * Ownership: `include` points into the host's strings: valid as long as they are.
 */
#ifndef INTERPOSE_NVRTC_OPTIONS_H
#define INTERPOSE_NVRTC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct include_option {
	int index;             /* which option string names the directory */
	const char *directory; /* points into that string, behind the -I, = and blanks */
};

struct options {
	struct include_option *include; /* in order */
	size_t include_count;
	bool debug;         /* -G, -lineinfo: paths, cwd, and in cubins mtime and size of files */
	bool ir;            /* -dlto, -optix-ir: paths and cwd always */
	bool unknown;       /* an option of which we do not know whether paths leak through it */
	bool tells_process; /* the log, or the return code, tells what the process compiled before */
	bool errors;        /* some warnings are errors */
	bool ptxas_speaks;  /* -Xptxas -v and its kin: the assembler has more to say in the log */
	bool pch;           /* --pch: automatic precompiled headers (B11) */
	const char *bundle; /* of --use-bundled-headers: the directory, which is in `include` too; NULL: not given */
	uint32_t sticky;    /* STICKY_*: options that work on in later compiles of the process */
	uint64_t uncleared; /* 0, or a hash of the options of which it is not known that they do not */
};

/* Which releases obey them how long: interpose/nvrtc/sticky.c. */
#define STICKY_RESTRICT    1
#define STICKY_OPT_INFO    2
#define STICKY_SPLIT       4
#define STICKY_GEN_OPT_LTO 8
#define STICKY_TIME_TRACE  16
#define STICKY_OPTIONS     31 /* all of them: struct library's `told` holds other bits too */

int options_read(const char *const *options, int count, struct options *ret_options);
/* Must paths, cwd and PWD be part of the key?  debug, ir, unknown, or pch (its files and messages carry paths). */
bool options_bind(const struct options *options);
/* May times and sizes of files reach the output (B5)?  debug, or unknown: what is not known might be a debug option. */
bool options_exact(const struct options *options);
void options_free(struct options *options);

#endif
