/* SPDX-License-Identifier: MIT */
/*
 * program: what we know of one nvrtcProgram beyond what all handles have (interpose/compile/handle.h)
 *
 * Calling sequence: program_add() after a successful nvrtcCreateProgram; program_find() in every call about it.
 * Threads, fork, signals, errors: as of handle.h.
 */
#ifndef INTERPOSE_NVRTC_PROGRAM_H
#define INTERPOSE_NVRTC_PROGRAM_H

#include "interpose/compile/handle.h"
#include "interpose/nvrtc/lent.h"
#include "interpose/nvrtc/types.h"

struct names_index; /* interpose/nvrtc/artifacts.c */

struct program {
	struct handle handle;
	bool has_memory_headers;
	bool texts_known;    /* so that the next two are what the source and the headers in memory say */
	uint32_t findings;   /* enum scan_finding there, but for SCAN_PLACE; while unknown, what binds is assumed */
	struct stream paths; /* scan_paths() of them */
	char **names;        /* expressions, in order */
	size_t name_count;
	_Atomic(struct names_index *) names_index; /* of the lowered names last asked for; free() */
	struct lent *lent;                         /* headers in memory that only the host has; NULL: none */
	flow_callback *callback;
	void *payload;
};

/* NULL: no memory; what was known of that handle is forgotten. */
struct program *program_add(nvrtcProgram value, struct library *library, enum reach reach);
/* NULL: unknown, or no program of NVRTC's. */
struct program *program_find(nvrtcProgram value);
int program_add_name(struct program *program, const char *expression);

static inline struct program *program_of(const struct handle *handle)
{
	return (struct program *)handle;
}

/* The compiler's free_handle. */
void program_release(struct handle *handle);

#endif
