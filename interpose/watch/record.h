/* SPDX-License-Identifier: MIT */
/*
 * record: adds what a replacement function has seen to the trace of its thread
 *
 * Calling sequence: a replacement makes the real call and then records it here, once. Calls that may end the process or
 * return twice (exec, fork) are recorded before they are made.
 *
 * A thread without a trace records nothing while no compile of any thread is running. Otherwise its call taints every
 * live trace with TAINT_OTHER_THREAD; what record_asked() and record_answered() are given is added to every live trace
 * instead. record_call() taints nothing, nor does record_directory() if the answer is what the traces expect.
 *
 * Errors: none; what cannot be recorded taints the trace, or marks it as failed. errno and dlerror do not change.
 * Threads: any. Fork: see watch.h. Signals: not from handlers. Cancellation: no function here is a cancellation point,
 * so a descriptor that the real call opened is not lost.
 */
#ifndef INTERPOSE_WATCH_RECORD_H
#define INTERPOSE_WATCH_RECORD_H

#include <stdint.h>

struct stat;

/* A call like stat(), which follows links. `found` NULL: the path was absent, for `error`. */
void record_probe(const char *path, const struct stat *found, int error);
/* The same after a call that gave no stamp: stats the path again. */
void record_presence(const char *path);
/* An open for reading. The descriptor's offset does not move. -1: it failed, for `error`. */
void record_open(const char *path, int descriptor, int error);
/* A call whose answer cannot be a dependency: a listing, the target of a link. */
void record_listing(const char *path);
/* A file or directory is opened for writing, made or removed. */
void record_write(const char *path);
/*
 * A directory is created, or a file is opened that is created if it does not exist. If the path is the trace's lock,
 * or a directory above it, this is not a side effect.
 */
void record_made(const char *path);
/* A write to a descriptor; -1: to memory. It is a side effect unless it goes to a scratch file of the compiler's. */
void record_output(int descriptor);
/* A call after which the result must not be cached: enum trace_taint bits. */
void record_taint(uint32_t taint);
/*
 * A call that makes the result path-dependent or the like (TAINTS_SOFT). From any thread it counts for every live
 * trace.
 */
void record_soft(uint32_t taint);
/* Records a query of an environment variable, and its answer. */
void record_asked(const char *variable, const char *value);
/* A query of the working directory; NULL: it failed. */
void record_directory(const char *answer);
/* A query of a number of the machine (keygen/machine.h), and its answer. */
void record_answered(uint32_t question, int64_t answer);
/* Any other call: it shows that the watch works. */
void record_call(void);
/* setlocale: a query of the locale now set, and a setting. Setting "C", or back to what was queried, is harmless. */
void record_locale_query(const char *answer);
void record_locale(const char *locale);

#endif
