/* SPDX-License-Identifier: MIT */
/*
 * options: the effect of compiler options on paths and on later compilations (docs/DESIGN.md)
 *
 * Purpose: finds the text of every -I directory, and whether the options let paths, the working directory or the times
 * of files reach the output. Nothing else is interpreted: the text of every option stays in the key. The parser knows
 * the option forms that the real NVRTC accepts (measured: -Ix, -I x, -I=x, --include-path=x, --include-path x, two
 * strings or one, surrounding blanks) and a list of options known to be harmless to path-neutral results. Anything else
 * makes the request path-dependent (`unknown`): an unlisted option, a listed one in a form that NVRTC rejects or that
 * was not measured, -Xptxas with any but a few values (it can pass -lineinfo), an absolute --pre-include. Some options
 * that no document names are known by their digests (cleared.h).
 *
 * The parser also finds options with an effect on later compilations of the process. scripts/sticky runs every option
 * that a release knows; an option that it has not cleared may have such an effect. These are unlisted options, in forms
 * that NVRTC may accept, and -Xptxas with an unlisted value.
 *
 * A directory that is not found merely stays in the key as text. It would be wrong to find a directory in a text that
 * NVRTC reads as something else (macro text, the value of another option), so values of two-string options are skipped
 * as NVRTC skips them.
 *
 * Calling sequence: options_read() on the host's array, use the fields, options_free(). Errors: -ENOMEM. Ownership:
 * `include` points into the host's strings, and is valid as long as they are.
 */
#ifndef INTERPOSE_NVRTC_OPTIONS_H
#define INTERPOSE_NVRTC_OPTIONS_H

#include "interpose/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct include_option {
	int index;             /* index of the option string that names the directory */
	const char *directory; /* points into that string, after -I, = and blanks */
};

struct options {
	struct include_option *include; /* in order */
	size_t include_count;
	bool debug; /* -G, -lineinfo: paths, cwd, and in cubins mtime and size of files */
	bool ir;    /* -dlto, -optix-ir: paths and cwd, always with -dlto */
	bool lto;   /* -dlto */
	/* Paths in debug information may be those of another directory. The caller sets it (request_call()). */
	bool loose;
	bool spells;        /* its paths are in the output; the caller clears it for releases that do not write them */
	bool unknown;       /* an option that may let paths reach the output */
	bool writes;        /* may name a file to write: --time, --create-pch, --use-bundled-headers, ... */
	bool tells_process; /* the log or the return code depends on the process or on earlier compilations of it */
	bool errors;        /* some warnings are treated as errors */
	bool ptxas_speaks;  /* -Xptxas -v and similar: ptxas adds to the log */
	bool pch;           /* --pch and other options about precompiled headers */
	const char *bundle; /* the directory of --use-bundled-headers, which is in `include` too; NULL: not given */
	uint32_t sticky;    /* STICKY_*: options with an effect on later compilations of the process */
	uint64_t uncleared; /* 0, or a hash of the options that may have such an effect */
	const char *passed; /* while the options are read: the value of the last -Xnvvm */
};

/* interpose/nvrtc/sticky.c says to which releases each of them applies. */
#define STICKY_RESTRICT    1
#define STICKY_OPT_INFO    2
#define STICKY_SPLIT       4
#define STICKY_GEN_OPT_LTO 8
#define STICKY_TIME_TRACE  16
#define STICKY_OPTIONS     31 /* the bits of `told` in struct library that are options; it has others, too */

int options_read(const char *const *options, int count, struct options *ret_options);
/*
 * Returns true if paths, cwd and PWD must be in the key, because they are in the output, or may be (`unknown`), or
 * because of --pch, whose files and messages contain paths.
 */
bool options_bind(const struct options *options);
/*
 * Returns true if times and sizes of files may reach the output: with a debug option, or an unknown one, which may be a
 * debug option.
 */
bool options_exact(const struct options *options);
/* Returns true unless every option is known to let NVRTC write no file, but for --pch, whose files are temporary. */
bool options_may_write(const struct call *call);
void options_free(struct options *options);

#endif
