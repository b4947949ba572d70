/* SPDX-License-Identifier: MIT */
/*
 * work: what we know of one npieceHandle beyond what all handles have (interpose/compile/handle.h)
 *
 * Its creation run is what was added, piece by piece; its options are those that npieceCreate was given.
 * Calling sequence: npiece_work_add() after a successful npieceCreate, npiece_work_find() in every call about it,
 * npiece_work_add_piece() after a successful npieceAdd. Threads, fork, signals: as of handle.h. Errors: where there is
 * no memory the handle is unknown, or no longer keyed.
 */
#ifndef TESTS_COMPILERS_NPIECE_WORK_H
#define TESTS_COMPILERS_NPIECE_WORK_H

#include "interpose/compile/handle.h"

struct work {
	struct handle handle;
	struct call call; /* every npieceComplete of it; the options are our copy */
};

void npiece_work_add(void *value, struct library *library, enum reach reach, const struct call *call);
struct work *npiece_work_find(void *value); /* NULL: unknown, or none of npiece's */
void npiece_work_add_piece(struct work *work, int kind, const char *name, const void *bytes, size_t size);

/* The compiler's about(). */
void npiece_work_about(const struct handle *handle, const struct call *call, struct stream *about);
/* The compiler's free_handle(). */
void npiece_work_free(struct handle *handle);

#endif
