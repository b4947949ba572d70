/* SPDX-License-Identifier: MIT */
/*
 * request: what the host asks for, in the form from which key and fingerprint are computed
 *
 * Calling sequence: request_describe(); request_clear(). A compiler's describe() fills in its part in between. Threads:
 * a request belongs to one thread.
 */
#ifndef INTERPOSE_COMPILE_REQUEST_H
#define INTERPOSE_COMPILE_REQUEST_H

#include "cache/counters.h"
#include "interpose/compile/handle.h"
#include "interpose/compile/library.h"
#include "interpose/watch/snapshot.h"
#include "keygen/digest.h"
#include "keygen/stream.h"
#include "keygen/surroundings.h"
#include "keygen/trace.h"

#include <stdbool.h>
#include <stddef.h>

/* Properties of a request, which a compiler's describe() sets. */
enum request_trait {
	REQUEST_BOUND = 1 << 0,          /* path-dependent: its key contains the paths literally */
	REQUEST_EXACT = 1 << 1,          /* times and sizes of files may reach the output */
	REQUEST_LOOKS_COUNT = 1 << 2,    /* probed paths are dependencies even if no file is opened */
	REQUEST_OPENS_FILES = 1 << 3,    /* its compilation probes files; if the watch saw none, the watch failed */
	REQUEST_ASKS_VARIABLES = 1 << 4, /* its compilation reads a variable; if the watch saw none, the watch failed */
	REQUEST_VARIES = 1 << 5,         /* the output depends on memory addresses, so verify cannot compare it */
	REQUEST_LOOSE = 1 << 6,          /* its debug information may contain paths of another directory */
	REQUEST_SEALED = 1 << 7          /* its output cannot be searched for paths */
};

#define REQUEST_OWN_BYTES 96

struct request {
	struct library *library;
	struct stream run; /* the call run */
	struct roots roots;
	unsigned traits;        /* enum request_trait */
	trace_scratch *scratch; /* recognises the compiler's scratch files; NULL: it has none */
	char *lock;             /* `lock` of struct trace; freed with the request; NULL: none */
	/* The input of key and fingerprint: the call run, and the creation run unless the history replaces it. */
	struct span spans[2];
	size_t span_count;
	/* Data of the compiler, freed by its free_request(). */
	_Alignas(max_align_t) unsigned char own[REQUEST_OWN_BYTES];
};

/*
 * Describes the request of a call. `earlier` is the number of earlier calls of the handle whose keys are its history.
 * Returns COUNTER_NONE, or the reason why the call bypasses the cache. `ret_request` must be zeroed or cleared before,
 * and must be cleared afterwards even if the call is bypassed.
 */
enum counter request_describe(struct handle *handle, size_t earlier, const struct call *call,
                              struct request *ret_request);
/*
 * Describes the call again and returns true if the request is the same. Other threads may change the directory or the
 * environment while the compiler works, and then it is unknown which state the compiler saw.
 */
bool request_unchanged(struct handle *handle, const struct call *call, const struct request *request,
                       const struct snapshot *told);
/*
 * For describe() of a compiler whose requests have no roots: writes the call run up to the compiler's own fields, and
 * from there to its end. request_end_run() returns COUNTER_NONE, or COUNTER_ERRORS_memory.
 */
void request_begin_run(struct request *request, const struct surroundings *around);
enum counter request_end_run(struct request *request, const struct surroundings *around);
/* Frees the allocations of request_describe(); the request can then be described again. */
void request_clear(struct request *request);

#endif
