/* SPDX-License-Identifier: MIT */
/*
 * library_steps: what is done to a library once, by calling the loader
 *
 *     adopted --library_prepare()--> ready --library_patch(), at the first miss--> patched --> woken, before a fork
 *        `--------- cannot be pinned ---------`------- cannot be watched -------> bypassed (reason)
 *
 * Purpose: preparing a library pins it (RTLD_NODELETE; because of BZ 19810 a reference is held too), once its release
 * is known. NVRTC itself calls dlopen() in its first compilation, so a dlerror() state is lost there without the cache
 * too. Imports are patched only at the first miss, so a process that has only hits does not pay for it.
 *
 * Threads: no lock is held across a call into the loader. A thread that finds another thread preparing waits at most
 * 100 ms, because the other one may wait for the loader's lock, which this thread may hold; after that, the compilation
 * bypasses the cache. So it does if another thread stays in the loader (loaded_may_call()).
 */
#ifndef INTERPOSE_COMPILE_LIBRARY_STEPS_H
#define INTERPOSE_COMPILE_LIBRARY_STEPS_H

#include "interpose/compile/library.h"

/* Prepares the library, unless that was done. Returns COUNTER_NONE, or the reason why its calls bypass the cache. */
enum counter library_prepare(struct library *library);
/* Patches the library's imports, unless that was done. Returns false if it cannot be watched. */
bool library_patch(struct library *library);
/* Makes all later calls of the library bypass the cache, for example because its watch was lost. */
void library_give_up(struct library *library, enum counter reason, const char *text);
/*
 * Before a fork: patches the libraries that had only hits in this process, and wakes them (compiler.h). Otherwise a
 * miss in the child would load objects for the first time, and the child may have inherited the loader in the middle of
 * another thread's dlopen(), where that hangs or aborts. Does nothing in a process with one thread.
 */
void library_fork_prepare(void);

#endif
