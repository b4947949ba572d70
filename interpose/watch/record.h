/* SPDX-License-Identifier: MIT */
/*
 * record: what the replacement functions tell the trace of their thread
 *
 * Calling sequence: a replacement does the real call and then reports it here, once. Acts that could end the process
 * or leave the function twice (exec, fork) are reported before they are done.
 *
 * A thread without a trace: nothing happens while no compile of any thread is under way; otherwise every live trace is
 * tainted with TAINT_OTHER_THREAD, or, for record_asked() and record_answered(), gets what was asked. record_call() is exempt,
 * and record_directory() where the answer is what the trace expects.
 *
 * Errors: none; what cannot be recorded taints or fails the trace. errno and dlerror are as before the call.
 * Threads: any. Fork: see watch.h. Signals: not to be called from handlers.
 * Cancellation: no function here is a cancellation point, so a descriptor that the real call opened is not lost.
 */
#ifndef INTERPOSE_WATCH_RECORD_H
#define INTERPOSE_WATCH_RECORD_H

#include <stdint.h>

struct stat;

/* A stat-like call that follows links: `found` where the path was there, else NULL and why not. */
void record_probe(const char *path, const struct stat *found, int error);
/*
 * The same for a call that gave no stamp: the path is looked at again.
 */
void record_presence(const char *path);
/* Opened for reading: the descriptor (its offset does not move), or -1 and why not. */
void record_open(const char *path, int descriptor, int error);
/* The path was looked at in a way that dependencies cannot express. */
void record_listing(const char *path);
/* A file or directory was opened for writing, made or removed. */
void record_write(const char *path);
/*
 * A directory was to be made, or a file opened that is made where it is not there. Is it the trace's lock, or a directory
 * above that, nothing was made.
 */
void record_made(const char *path);
/* Written to a descriptor; -1: to memory. Only that of a scratch file of the compiler's own is not a side effect. */
void record_output(int descriptor);
/* An act that forbids keeping the result: enum trace_taint bits. */
void record_taint(uint32_t taint);
/* One that binds the result and does not forbid keeping it; any thread's counts for every live trace. */
void record_soft(uint32_t taint);
/* An environment variable was asked for, and what was answered. */
void record_asked(const char *variable, const char *value);
/* The working directory was asked for; NULL: it could not be told. */
void record_directory(const char *answer);
/* The machine was asked for a number (keygen/machine.h), and what was answered. */
void record_answered(uint32_t question, int64_t answer);
/* A call that tells nothing but that the watch is alive. */
void record_call(void);
/* setlocale: a query of the locale now set, and a setting. Setting "C", or back to what was queried, is harmless. */
void record_locale_query(const char *answer);
void record_locale(const char *locale);

#endif
