/* SPDX-License-Identifier: MIT */
/*
 * watch: records what a compiler library reads from and does to the outside world (docs/DESIGN.md)
 *
 * Purpose: some of a library's import slots (GOT) lead to functions that take paths, read the environment, start
 * processes or communicate. These slots are redirected to replacements. A replacement makes the call that the library
 * would have made, and records it in the trace of the calling thread.
 *
 *     unpatched --watch_patch()--> patched --watch_verify() fails--> lost (the library is bypassed)
 *         \--an import is not in the table, or mprotect fails--> unwatchable
 *
 * The plan: every import is looked up in one table (interpose/watch/imports.h), which says whether it is watched
 * (redirected) or cleared. A library is unwatchable if it imports a function that is not in the table, has a
 * DT_NEEDED beyond libc's own family (libc, libm, libdl, libpthread, librt, ld-linux, libgcc_s), or has a watched
 * import whose function cannot be found or whose slot cannot be redirected. The slots of dlopen, dlsym and dlclose
 * are not redirected, because dlopen takes RUNPATH from its return address.
 *
 * Calling sequence: watch_patch() once per library, before its first watched compilation and outside dlopen (its
 * `resolve` calls into the loader); watch_verify() before and after each compilation; live_begin(); the real
 * compilation; live_end().
 *
 * Errors: watch_patch() returns -ENOTSUP (the library is unwatchable; ret_reason names the import), -EPERM (mprotect
 * failed), -ENOEXEC, -ENOMEM. Threads: the caller serialises watch_patch() for each library; all other functions may be
 * called on any thread. Slots are stored with release order. Signals: replacements leave errno as the real call set
 * it, allocate only while a trace is recorded, and never change dlerror. Ownership: slots stay patched until the
 * process ends (the compiler library and this one are pinned).
 */
#ifndef INTERPOSE_WATCH_WATCH_H
#define INTERPOSE_WATCH_WATCH_H

#include "interpose/watch/arithmetic.h"

#include <stdbool.h>

struct watch; /* the patched slots of one library */

int watch_patch(const struct elf_object *object, watch_resolver *resolve, struct watch **ret_watch,
                const char **ret_reason);
/*
 * Returns true if all slots still lead to the replacements. A late lazy binding or another patcher may have
 * overwritten one.
 */
bool watch_verify(const struct watch *watch);

/* Returns the mathematics functions of the library. */
const struct arithmetic *watch_arithmetic(const struct watch *watch);

/*
 * path_functions: checks whether all functions that take paths come from one library
 *
 * Purpose: a preload that redirects paths (nixpkgs' libredirect) replaces some of these functions and not others.
 * NVRTC calls open, fopen, stat and access; this library calls openat and statx. If they do not all come from one
 * library, this library may find other files than the compiler, and dependencies checked with them prove nothing.
 *
 * Not compared: sanitizer runtimes, which check the arguments and forward the call, and libpthread, which has an
 * `open` of its own in C libraries before 2.34.
 *
 * Errors: a function that is not found counts as agreeing. Threads: any. Determined once per process.
 */
bool path_functions_agree(void);

#endif
