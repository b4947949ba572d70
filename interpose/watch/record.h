/* SPDX-License-Identifier: MIT */
/*
 * record: adds the calls that replacement functions have seen to the trace of their thread
 *
 * Calling sequence: a replacement makes the real call and then records it here, once. Calls that may end the process or
 * return twice (exec, fork) are recorded before they are made.
 *
 * A thread without a trace records nothing while no thread compiles. Otherwise its call taints every live trace with
 * TAINT_OTHER_THREAD. Exceptions: variables and numbers given to record_asked() and record_answered() are added to
 * every live trace instead, which is tainted only if the answer differs from the trace's snapshot; record_call() taints
 * nothing.
 *
 * Errors: none; a call that cannot be recorded taints the trace, or marks it as failed. dlerror does not change, nor
 * errno in what is recorded before a call. Threads: any. Fork: see watch.h. Signals: not from handlers. Cancellation:
 * no function here is a cancellation point, so a descriptor that the real call opened is not lost.
 */
#ifndef INTERPOSE_WATCH_RECORD_H
#define INTERPOSE_WATCH_RECORD_H

#include <stdint.h>

struct stat;

/*
 * Records a call like stat(), which follows links. `found` NULL: the path was absent, and the call failed with `error`.
 */
void record_probe(const char *path, const struct stat *found, int error);
/* The same after a call that returned no stamp; stats the path again. */
void record_presence(const char *path);
/* Records an open for reading. `descriptor` -1: it failed with `error`. The descriptor's offset does not change. */
void record_open(const char *path, int descriptor, int error);
/* Records a call whose answer cannot be a dependency: a listing, the target of a link. */
void record_listing(const char *path);
/* Records that a file or directory is opened for writing, created or removed. */
void record_write(const char *path);
/*
 * Records that a directory is created, or that a file is opened which is created if it does not exist. This is no side
 * effect if the path is the trace's lock, or a directory above the lock.
 */
void record_made(const char *path);
/*
 * Records a write to a descriptor; -1: to memory. It is a side effect unless it goes to a scratch file of the compiler.
 */
void record_output(int descriptor);
/* Records a call after which the result must not be cached: enum trace_taint bits. */
void record_taint(uint32_t taint);
/* Records a query of an environment variable or, if `variable` is NULL, of the working directory, and its answer. */
void record_asked(const char *variable, const char *answer);
/* Records a query of a number of the machine (keygen/machine.h), and its answer. */
void record_answered(uint32_t question, int64_t answer);
/* Records any other call, as evidence that the watch works. */
void record_call(void);
/*
 * setlocale: record a query of the present locale, and a change. A change to "C", or to the queried locale, is
 * harmless.
 */
void record_locale_query(const char *answer);
void record_locale(const char *locale);

#endif
