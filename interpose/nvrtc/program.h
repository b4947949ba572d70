/* SPDX-License-Identifier: MIT */
/*
 * program: the record of one nvrtcProgram, in addition to that of all handles (interpose/compile/handle.h)
 *
 * Calling sequence: program_add() after a successful nvrtcCreateProgram; program_find() in every call about it.
 * Threads, fork, signals, errors: as in handle.h.
 */
#ifndef INTERPOSE_NVRTC_PROGRAM_H
#define INTERPOSE_NVRTC_PROGRAM_H

#include "interpose/compile/handle.h"
#include "interpose/nvrtc/functions.h"
#include "interpose/nvrtc/lent.h"

struct names_index; /* interpose/nvrtc/artifacts.c */

struct program {
	struct handle handle;
	bool has_memory_headers;
	bool texts_known;    /* the next two fields describe the source and the in-memory headers */
	uint32_t findings;   /* enum scan_finding without SCAN_PLACE; while unknown, the worst is assumed */
	struct stream paths; /* scan_paths() of them */
	char **names;        /* expressions, in order */
	size_t name_count;
	_Atomic(struct names_index *) names_index; /* index of the lowered names of the last entry; free() */
	struct lent *lent;                         /* in-memory headers of which only the host has a copy; NULL: none */
	flow_callback *callback;
	void *payload;
};

/* NULL: no memory; an earlier record of that handle is removed. */
struct program *program_add(nvrtcProgram value, struct library *library, enum reach reach);
/* NULL: unknown, or a handle of another compiler. */
struct program *program_find(nvrtcProgram value);
int program_add_name(struct program *program, const char *expression);

static inline struct program *program_of(const struct handle *handle)
{
	return (struct program *)handle;
}

/* The compiler's free_handle. */
void program_release(struct handle *handle);

#endif
