/* SPDX-License-Identifier: MIT */
/*
 * program: the record of one nvvmProgram, in addition to that of all handles (interpose/compile/handle.h)
 *
 * The creation run consists of the modules in order. The real program gets them immediately, so a call that was a hit
 * can be performed later, until the next module is added. A compilation leaves a result and a log, a verification only
 * a log; each stays until the next call that replaces it. So the record knows for each of the two whether an entry or
 * the real program answers.
 *
 * The handlers add a record after a successful nvvmCreateProgram, and find it in every call with the program.
 * Calling sequence: nvvm_program_works() before each real call, nvvm_program_served() after each hit. Threads, fork,
 * signals, errors: as in handle.h.
 * Ownership: the handle holds the entries.
 */
#ifndef INTERPOSE_NVVM_PROGRAM_H
#define INTERPOSE_NVVM_PROGRAM_H

#include "interpose/compile/handle.h"
#include "interpose/nvvm/functions.h"

struct nvvm_program {
	struct handle handle;
	const struct entry *result, *log; /* these answer the getters; NULL: the real program does */
	enum nvvm_work latest;            /* the last call that was performed on the real program */
	bool has_worked;                  /* a call was performed on the real program */
};

static inline struct nvvm_program *nvvm_program_of(const struct handle *handle)
{
	return (struct nvvm_program *)handle;
}

/* To be called before the real call: the real program then answers the getters of its artifacts. */
void nvvm_program_works(struct nvvm_program *program, enum nvvm_work work);
/* The compiler's fields. */
extern const struct shown_field nvvm_shown[OWN_TAGS];
/* The compiler's served(). */
void nvvm_program_served(struct handle *handle, const struct entry *entry);

/* The compiler's answer_from(). */
const struct entry *nvvm_program_answer(struct handle *handle, size_t artifact);

#endif
