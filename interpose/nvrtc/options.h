/* SPDX-License-Identifier: MIT */
/*
 * options: the effect of compiler options on paths and on later compilations (docs/DESIGN.md)
 *
 * Purpose: finds the text of every -I directory, and whether the options let paths, the working directory or the times
 * of files reach the output. Nothing else is interpreted: the text of every option stays in the key. The parser knows
 * the option forms that the real NVRTC accepts (measured: -Ix, -I x, -I=x, --include-path=x, --include-path x, two
 * strings or one, surrounding blanks) and a list of options known to be harmless to path-neutral results. Anything else
 * makes the request path-dependent (BINDS): an unlisted option, a listed one in a form that NVRTC rejects or that
 * was not measured, -Xptxas (it can pass -lineinfo), an absolute --pre-include.
 *
 * cuDNN passes options that no document names, and that only its own callback spells. cleared_options.list has digests
 * of single ones, no texts. An option is in it if a compilation with it gave the same bytes in two directories, and if
 * it had no effect on later compilations of the process.
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
 * directories point into the host's strings, and are valid as long as they are.
 */
#ifndef INTERPOSE_NVRTC_OPTIONS_H
#define INTERPOSE_NVRTC_OPTIONS_H

#include "interpose/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What options do: a set of bits. */
enum option_effect {
	OPTION_HARMLESS = 0,
	OPTION_INCLUDE = 1 << 0,
	OPTION_PRE_INCLUDE = 1 << 1,
	OPTION_PTXAS = 1 << 2,
	OPTION_NVVM = 1 << 3,       /* passes its value on to NVVM */
	OPTION_DEBUG = 1 << 4,      /* -G, -lineinfo: paths, cwd, and in cubins mtime and size of files */
	OPTION_OPTIX = 1 << 5,      /* -optix-ir: in some releases paths and cwd */
	OPTION_LTO = 1 << 6,        /* -dlto: paths and cwd */
	OPTION_PCH = 1 << 7,        /* --pch and other options about precompiled headers */
	OPTION_DIAG_ERROR = 1 << 8, /* turns warnings into errors */
	OPTION_BINDS = 1 << 9,      /* may let paths reach the output */
	OPTION_TELLS = 1 << 10,  /* the log or the return code depends on the process or on its earlier compilations */
	OPTION_WRITES = 1 << 11, /* may name a file to write */
	OPTION_SPEAKS = 1 << 12, /* -Xptxas -v and similar: ptxas adds to the log */
	OPTION_NO_CACHE = 1 << 15, /* the driver's cache is not used */
	/* Set after the options were read: */
	OPTION_SPELLS = 1 << 13, /* paths are in the output; the caller clears it for releases that do not write them */
	OPTION_LOOSE = 1 << 14,  /* paths in debug information may be those of another directory; set by the caller */
	/* With an effect on later compilations of the process; interpose/nvrtc/sticky.h says on which. */
	OPTION_RESTRICT = 1 << 16,
	OPTION_OPT_INFO = 1 << 17,
	OPTION_SPLIT = 1 << 18,
	OPTION_GEN_OPT_LTO = 1 << 19,
	OPTION_TIME_TRACE = 1 << 20,
	OPTION_STICKY = 31 << 16,

	OPTION_IR = OPTION_OPTIX | OPTION_LTO,
	OPTION_GEN_LTO = OPTION_IR | OPTION_GEN_OPT_LTO,
	OPTION_BUNDLE = 1 << 21 | OPTION_WRITES, /* like INCLUDE; NVRTC unpacks its headers there, under a lock */
	OPTION_TIME = 1 << 22 | OPTION_BINDS | OPTION_WRITES, /* the value: a file for run times, or "-" for the log */
	OPTION_TRACE = OPTION_TIME_TRACE | OPTION_BINDS | OPTION_WRITES,
	OPTION_PCH_FILE = OPTION_PCH | OPTION_WRITES,
	OPTION_PROCESS = OPTION_BINDS | OPTION_TELLS | OPTION_WRITES
};

struct options {
	uint32_t effects;         /* enum option_effect */
	const char **directories; /* of each string: the directory that it names, in it; NULL: no string names one */
	const char *bundle; /* the directory of --use-bundled-headers, which is one of these too; NULL: not given */
	uint64_t uncleared; /* 0, or a hash of the options that may affect later compilations of the process */
};

static inline bool options_do(const struct options *options, uint32_t effects)
{
	return (options->effects & effects) != 0;
}

/* Returns the directory that the string of that index names for -I; NULL: it names none. */
static inline const char *options_directory(const struct options *options, int index)
{
	return options->directories ? options->directories[index] : NULL;
}

int options_read(const char *const *options, int count, struct options *ret_options);
/*
 * Returns true if paths, cwd and PWD must be in the key, because they are in the output, or may be, or because of
 * --pch, whose files and messages contain paths.
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
