/* SPDX-License-Identifier: MIT */
/*
 * identity: which compiler is this? (docs/DESIGN.md B1)
 *
 * Purpose: the bytes that tell one compiler from another: release, build-id of its library, build-id of its companion
 * (libnvrtc-builtins holds built-in headers and per-architecture code); a digest of the whole file where there is no
 * build-id.
 *
 * libnvrtc loads its builtins by plain name at its first compile, and a hit must not wait for that. So the file is
 * found where the loader would find it: among the loaded objects, or by loader_search.h. After each real compile the
 * object that was really loaded is compared with what was foretold; where they differ nothing is kept, and the truth is
 * used from then on.
 *
 * Calling sequence: identity_of() per compile (remembered per library); identity_confirm() after a real compile.
 * Errors: identity_of() returns -ENOENT where the builtins cannot be foretold (glibc-hwcaps directories, no such file).
 * Threads: any; the first answer is published once. Fork: no state that a child could find half-done.
 */
#ifndef INTERPOSE_COMPILE_IDENTITY_H
#define INTERPOSE_COMPILE_IDENTITY_H

#include "interpose/compile/library.h"

struct identity {
	size_t size;
	uint8_t bytes[IDENTITY_MAX];
};

int identity_of(struct library *library, const struct identity **ret_identity);
/* True when the loaded builtins are those of the identity given out. */
bool identity_confirm(struct library *library, const struct identity *identity);

#endif
