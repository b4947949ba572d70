/* SPDX-License-Identifier: MIT */
/*
 * program: the record of one nvrtcProgram, in addition to that of all handles (interpose/compile/handle.h)
 *
 * The handlers add a record after a successful nvrtcCreateProgram, and find it in every call with a program. Threads,
 * fork, signals, errors: as in handle.h.
 */
#ifndef INTERPOSE_NVRTC_PROGRAM_H
#define INTERPOSE_NVRTC_PROGRAM_H

#include "interpose/compile/handle.h"
#include "interpose/nvrtc/functions.h"
#include "interpose/nvrtc/lent.h"

struct program {
	struct handle handle;
	bool has_memory_headers;
	bool texts_known;  /* `findings` are those of the source and the in-memory headers */
	uint32_t findings; /* enum scan_finding, for a later call; if the texts are not known, those assumed */
	char **names;      /* expressions, in order */
	size_t name_count;
	_Atomic(const uint8_t *) last_name; /* where an entry has the lowered name that the host asked for last */
	struct lent *lent;                  /* in-memory headers that were not copied; NULL: none */
	struct decoder *decoder;            /* of a program with encoded texts; NULL: none */
	flow_callback *callback;
	void *payload;
	/* While the callback runs for a hit: what NVRTC has in a compile that goes on. NULL: no such call. */
	struct entry *going_on;
};

static inline struct program *program_of(const struct handle *handle)
{
	return (struct program *)handle;
}

#endif
