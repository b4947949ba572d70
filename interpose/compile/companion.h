/* SPDX-License-Identifier: MIT */
/*
 * companion: identifies the library that a compiler's library loads by itself (docs/DESIGN.md B25)
 *
 * Purpose: libnvrtc-builtins has built-in headers and per-architecture code, so its build-id is a dependency of a
 * result; that of the library itself is in the key. A file without a build-id is identified by its content's digest.
 *
 * libnvrtc loads its builtins by plain name at its first compilation, and a hit must not wait for that. So the first
 * look-up that needs the companion finds it as the loader would: among the loaded objects by SONAME, else with
 * loader_search(). The answer holds until the process ends, as the loaded library of a process without the cache would.
 * After each real compilation the loaded object replaces the answer.
 *
 * Calling sequence: companion_find() to check a result; companion_confirm() after a real compilation. Errors: no
 * companion is known (directories for processor variants, a loader that was started by hand, no such file). Threads:
 * any; an answer is published as a whole. Fork: a child never finds half-written state.
 */
#ifndef INTERPOSE_COMPILE_COMPANION_H
#define INTERPOSE_COMPILE_COMPANION_H

#include "interpose/compile/library.h"
#include "keygen/digest.h"

/*
 * Returns the digest of the companion that the `struct library` has loaded, or would load; NULL: it is not known, or
 * there is none. For `companion` of struct roots.
 */
const struct key *companion_find(void *library);
/* Likewise of the companion that the library has loaded. The compiler has one (`companion` of struct compiler). */
const struct key *companion_confirm(struct library *library);

#endif
