/* SPDX-License-Identifier: MIT */
/*
 * identity: identifies a compiler library and its companion (docs/DESIGN.md B1, B25)
 *
 * Purpose: the key of a request contains the bytes that distinguish one compiler library from another: its release and
 * its build-id. Its companion (libnvrtc-builtins has built-in headers and per-architecture code) is a dependency of the
 * result instead: its build-id. A file without a build-id is identified by a digest of its content.
 *
 * libnvrtc loads its builtins by plain name at its first compilation, and a hit must not wait for that. So the first
 * look-up that needs the companion finds it as the loader would: among the loaded objects by SONAME, else with
 * loader_search(). The answer holds until the process ends, as the loaded library of a process without the cache would.
 * After each real compilation the loaded object replaces the answer.
 *
 * Calling sequence: identity_make() when a library is prepared; identity_companion() to check a result;
 * identity_confirm() after a real compilation. Errors: a negative errno; no companion is known (directories for
 * processor variants, a loader that was started by hand, no such file). Threads: any; an answer is published as a
 * whole. Fork: a child never finds half-written state.
 */
#ifndef INTERPOSE_COMPILE_IDENTITY_H
#define INTERPOSE_COMPILE_IDENTITY_H

#include "interpose/compile/library.h"
#include "keygen/digest.h"

/* Fills in `identity` of a library whose release is known. */
int identity_make(struct library *library);

/* Returns the digest of the companion that the library has loaded, or would load; NULL: it is not known, or none. */
const struct key *identity_companion(struct library *library);
/* Likewise of the companion that the library has loaded. The compiler has one (`companion` of struct compiler). */
const struct key *identity_confirm(struct library *library);

/*
 * Reads a file of at least `least` and at most `most` bytes into a block for free(); a NUL follows the last byte.
 * Errors: a negative errno; -EINVAL if the file is smaller or not regular, -EFBIG, -EAGAIN if it changed while it was
 * read.
 */
int identity_read_file(const char *path, size_t least, size_t most, void **ret_bytes, size_t *ret_size);

#endif
