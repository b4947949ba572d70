/* SPDX-License-Identifier: MIT */
/*
 * program: the record of one nvvmProgram, in addition to that of all handles (interpose/compile/handle.h)
 *
 * The creation run consists of the modules in order. The real program gets them immediately, so a call that was a hit
 * can be performed later, until the next module is added. A compilation leaves a result and a log, a verification only
 * a log; each stays until the next call that replaces it. So the record knows for each of the two whether an entry or
 * the real program answers.
 *
 * The handlers add a record after a successful nvvmCreateProgram, and find it in every call with the program. Threads,
 * fork, signals, errors: as in handle.h. Ownership: the handle holds the entries.
 */
#ifndef INTERPOSE_NVVM_PROGRAM_H
#define INTERPOSE_NVVM_PROGRAM_H

#include "interpose/compile/handle.h"
#include "interpose/nvvm/functions.h"

struct nvvm_program {
	struct handle handle;
	const struct entry *result, *log; /* these answer the getters; NULL: the real program does */
	enum nvvm_work latest;            /* the last call that was performed on the real program; 0: none was */
};

static inline struct nvvm_program *nvvm_program_of(const struct handle *handle)
{
	return (struct nvvm_program *)handle;
}

/* The compiler's fields. */
extern const struct shown_field nvvm_shown[OWN_TAGS];

#endif
