/* SPDX-License-Identifier: MIT */
/*
 * watch: seeing what a compiler library asks of the outside world (docs/DESIGN.md B2, B7, B9, B10, B16)
 *
 * Purpose: the import slots (GOT) of one library that take paths, read the environment, start processes or talk to the
 * outside are redirected to functions of ours that record into the trace of the calling thread and then do the very
 * call that the library would have done.
 *
 *     unpatched --watch_patch()--> patched --watch_verify() fails--> lost (the library is passed through)
 *         \--the plan meets an unknown way out, or mprotect is refused--> unwatchable
 *
 * The plan: every import is looked up in one X-macro table (interpose/watch/imports.h): it is watched (redirected) or
 * cleared. One that is not in the table makes the library unwatchable, as does a DT_NEEDED beyond libc's own family, (libc, libm, libdl, libpthread, librt, ld-linux, libgcc_s), a patched name bound through a slot type that
 * cannot be redirected, or an IFUNC target. libnvrtc's dlopen, dlsym and dlclose slots are left alone: dlopen takes
 * RUNPATH from its return address.
 *
 * Attribution: a thread that compiles has a trace (watch_begin/end, thread-local). A watched call on a thread without
 * one goes straight through when no compile of any thread is under way; otherwise, if it touches files or processes, it
 * taints every live trace (TAINT_OTHER_THREAD); if it reads the environment, the variable is added to every live trace
 * (NVRTC's worker threads call getenv).
 *
 * Calling sequence: watch_patch() once per library, before its first compile, with the loader's state settled (it calls
 * dlvsym through the next dlsym in line to find the functions of the same version as the slots'); watch_verify() before
 * and after each compile; watch_begin(); the real compile; watch_end().
 *
 * Errors: watch_patch returns -ENOTSUP (no plan; ret_reason names the import), -EPERM (mprotect refused), -ENOEXEC.
 * Threads: watch_patch is serialised by its caller for each library; the rest is any-thread. Slots are stored with
 * release order. Fork: a compile in a forked child works; the trace is of the thread that lives on. Signals: watchers
 * keep errno as the real call left it, allocate only while a trace is recorded, and never change dlerror.
 * Ownership: patched slots stay patched for the life of the process (the library is pinned, and so are we).
 */
#ifndef INTERPOSE_WATCH_WATCH_H
#define INTERPOSE_WATCH_WATCH_H

#include "interpose/watch/arithmetic.h"
#include "keygen/trace.h"

#include <stdbool.h>

struct watch; /* the patched slots of one library */

/* `real_dlvsym`: finds a function by name and version in the global scope; 0 where there is none. */
typedef uintptr_t watch_resolver(const char *name, const char *version);

int watch_patch(const struct elf_object *object, watch_resolver *resolve, struct watch **ret_watch,
                const char **ret_reason);
/*
 * What alone, by its name, stands in the way of watching an object: a library that it needs, or a function that it
 * imports. NULL: nothing does. Nothing is asked or changed; the object may be one that is mapped and not loaded. The name
 * is the object's.
 */
const char *watch_obstacle(const struct elf_object *object);
/* Are all slots still ours? A lazy binding or another patcher may have overwritten one. */
bool watch_verify(const struct watch *watch);

/* What the library computes with. */
const struct arithmetic *watch_arithmetic(const struct watch *watch);

/* From here on this thread's watched calls are recorded into `trace`. Nests (a flow callback may compile): the
 * inner trace hides the outer one, and what it sees is added to the outer one's taints only. */
void watch_begin(struct trace *trace);
void watch_end(struct trace *trace);

/* For an atfork handler: in the child only the forking thread's traces live on. */
void watch_fork_child(void);

/*
 * path_functions: whether all functions that take paths lead to the same files
 *
 * Purpose: a preload that redirects paths (nixpkgs' libredirect) replaces some of these functions and not others. NVRTC
 * calls open, fopen, stat and access; we ask openat and statx. Where they are not all of one library, ours may look at
 * other files than the compiler would, and nothing that was found with them says anything about the compiler's.
 *
 * Left out of the comparison: runtimes of sanitizers, which look at what is passed and pass it on, and libpthread,
 * where C libraries before 2.34 have an `open` of their own.
 *
 * Errors: what cannot be found is as it should be. Threads: any. Fork, signals: no. Found out once in a process.
 */

bool path_functions_agree(void);

#endif
