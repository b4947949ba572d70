/* SPDX-License-Identifier: MIT */
/*
 * dependencies: what must still be so for a result to be right (docs/DESIGN.md B2, B5, B6, B19-B21)
 *
 * Purpose: dependencies_build() turns a trace into bytes that travel with the result; dependencies_hold() tells whether the
 * file system of this moment fulfils them.  Storage treats the bytes as opaque.
 *
 * Held dependencies, per distinct path:
 *   content    the file was opened: same content. Compared by stamp first (device, inode, size, mtime, ctime), where it
 *              was taken on this boot, in a mount that is still the same (keygen/mount.h), and was not racily clean; by
 *              BLAKE2b-256 of the content elsewhere. A file of size 0 is always read. And it can be opened: by one of
 *              the same credentials at the same ctime, or it is tried (keygen/credentials.h).
 *   absent     the path was probed or opened and was not there: it still is not.
 *   identity   the path was stat'ed but not opened and was there: it still is, and it is one file with the same other
 *              paths as before (#pragma once compares device and inode). Identity is compared for opened files too.
 *   exact      debug forms: size and mtime of content and identity paths are equal as well (they are in the cubin).
 *   arithmetic the functions that the compiler folded constants with are the same.
 *   machine    the machine answers what the compiler was told when it asked for a number (keygen/machine.h).
 *   root text  root N is spelled exactly so (its text was found in the output, B6; always for the root directory).
 * Paths inside a root are kept relative to it, other absolute ones literally, relative ones relative to the cwd.
 *
 * Which probes count (B2): with in-memory headers, with any opened file or in exact mode (a file of the program's name
 * shows in debug information), all; otherwise none: such a program has empty dependencies.
 *
 * Speed: one stat per distinct path, and per directory at most one open of it and one of a file in it; no allocation
 * grows with file content. Content is read only where no stamp stands for it, and once in a process; where that would
 * be more than CONTENT_READ_MAX, the dependencies do not hold.
 *
 * Errors: dependencies_build() returns -ENOMEM, or -EINVAL for a trace that dependencies cannot express (tainted, failed,
 * TRACE_LISTING). dependencies_hold() maps every doubt (unreadable, damaged bytes, no memory) to false.
 */
#ifndef KEYGEN_DEPENDENCIES_H
#define KEYGEN_DEPENDENCIES_H

#include "keygen/roots.h"
#include "keygen/trace.h"

#include <stdbool.h>

struct dependencies_input {
	const struct trace *trace;
	const struct roots *roots;
	const uint8_t *root_is_literal; /* one flag per root: its text was found in the output (B6) */
	bool exact;                     /* debug forms (B5) */
	bool arithmetic;                /* roots_arithmetic(), which must be known, is a dependency */
	bool has_memory_headers;
	/*
	 * The compiler stats the working directory by its absolute name, and $PWD and "." to compare the two. Both
	 * texts are in the key where they matter (bound requests). May be NULL: then they bind like any literal path.
	 */
	const char *cwd; /* as getcwd() gave it: a probe of exactly this directory is kept as "." */
	/*
	 * NVRTC 13.5 spells relative paths with the working directory in front: a path in cwd is then kept relative to
	 * it, and where it lies in a root too, both ways, as it cannot be told which one the compiler meant.
	 */
	bool cwd_spelled;
	const char *pwd; /* $PWD: a probe of exactly this directory is no dependency, unless it lies in a root */
};

/* An empty ret_stream (size 0) means: no dependencies. */
int dependencies_build(const struct dependencies_input *input, struct stream *ret_stream);

#define DEPENDENCIES_BOUND "bound to "
#define DEPENDENCIES_NOW   ", and now it is "

/*
 * `roots` are those of the present request: same count as when the dependencies were built, or it does not hold.
 * `ret_why` (may be NULL): what failed first, for "why was this a miss"; at most `why_size` bytes with the NUL. Of a
 * directory that is bound to: DEPENDENCIES_BOUND, what it was, DEPENDENCIES_NOW, what it is.
 */
bool dependencies_hold(const void *dependencies, size_t size, const struct roots *roots, char *ret_why,
                       size_t why_size);
/*
 * The same, and where contents had to be read for it: `ret_anew` is a copy of the dependencies with stamps of now, of the
 * same size, the caller's to free(). NULL where there is nothing to be gained.
 */
bool dependencies_hold_anew(const void *dependencies, size_t size, const struct roots *roots, char *ret_why,
                            size_t why_size, void **ret_anew);
/*
 * Whether the files that we find are those that the compiler would: asked before a path is first looked at. Where the
 * answer is no, nothing holds that names a path. Not set, it is yes.
 */
void dependencies_ask_paths(bool (*agree)(void));
/*
 * Have these stamps been taken by another node than those of `anew`, before the last boot, or in other mounts, within
 * the last minute? Nodes, and containers of one node, that share a directory would take turns to write theirs.
 */
bool dependencies_lately_elsewhere(const void *dependencies, const void *anew, size_t size);

/* Makes the stamps those of nobody, in place: whoever gets the dependencies then reads every file. Damaged ones stay. */
void dependencies_forget(void *dependencies, size_t size);
/* Do they ask for the same, whatever their stamps are? */
bool dependencies_same(const void *one, size_t one_size, const void *other, size_t other_size);

/* Is there a file among them, or the place of one? Damaged bytes: true. */
bool dependencies_name_files(const void *dependencies, size_t size);

#endif
