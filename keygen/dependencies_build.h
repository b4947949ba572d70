/* SPDX-License-Identifier: MIT */
/*
 * dependencies_build: turns a trace into the bytes of dependencies (keygen/dependencies.h)
 *
 * Probed paths are dependencies if the request has in-memory headers, if a file was opened, or in exact mode (debug
 * information shows whether a file of the program's name exists); otherwise the dependencies contain no path.
 *
 * Errors: -ENOMEM, or -EINVAL for a trace that dependencies cannot express (tainted, failed, TRACE_LISTING, too many
 * paths, bytes that cannot be read back).
 */
#ifndef KEYGEN_DEPENDENCIES_BUILD_H
#define KEYGEN_DEPENDENCIES_BUILD_H

#include "keygen/surroundings.h"
#include "keygen/trace.h"

#include <stdbool.h>

struct dependencies_input {
	const struct trace *trace;
	const struct roots *roots;
	const uint8_t *root_is_literal; /* one flag per root: the output contains its text */
	bool exact;                     /* debug forms: sizes and times are dependencies */
	bool arithmetic;                /* roots_arithmetic() is a dependency, and must be known */
	const struct key *companion;    /* roots_companion() is a dependency: it must be this one; NULL: it is none */
	bool has_memory_headers;
	/*
	 * The compiler stats the working directory by its absolute name, and compares $PWD with ".". Path-dependent
	 * requests have both texts in their key. If `cwd` or `pwd` is NULL, a probe of that directory is stored as a
	 * literal path.
	 */
	const char *cwd; /* as getcwd() returned it: a probe of exactly this directory is stored as "." */
	/*
	 * NVRTC 13.5 puts the working directory in front of paths, even absolute ones. A path in cwd is then stored
	 * relative to cwd, and, if it is in a root too, relative to both, because the trace does not show which one the
	 * compiler meant.
	 */
	bool cwd_spelled;
	/* Paths in cwd that are stat()ed and not opened are stored relative to it (debug information). */
	bool cwd_looked_at;
	const char *pwd; /* $PWD: a probe of exactly this directory is no dependency unless it is in a root */
};

/*
 * Builds the dependencies, and learns the contents of the files; the caller frees the stream. Size 0 means that the
 * result has no dependencies.
 */
int dependencies_build(const struct dependencies_input *input, struct stream *ret_stream);

#endif
