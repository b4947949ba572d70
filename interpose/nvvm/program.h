/* SPDX-License-Identifier: MIT */
/*
 * program: what we know of one nvvmProgram beyond what all handles have (interpose/compile/handle.h)
 *
 * Its creation run is the modules, as they are added; the real program is given them at once, so a call that was a hit
 * can be made up for at any time until the next module comes. A compile leaves a result and a log, a verification a log
 * alone, and what each leaves stays until the next that leaves the like: so who answers is known for both.
 *
 * Calling sequence: nvvm_program_add() after a successful nvvmCreateProgram; nvvm_program_find() in every call about it;
 * nvvm_program_settle() before a module is added and nvvm_program_add_module() after it; nvvm_program_works() before
 * each real call, nvvm_program_served() after each hit. Threads, fork, signals, errors: as of handle.h.
 * Ownership: the entries are the handle's held ones.
 */
#ifndef INTERPOSE_NVVM_PROGRAM_H
#define INTERPOSE_NVVM_PROGRAM_H

#include "interpose/compile/handle.h"
#include "interpose/nvvm/types.h"

struct nvvm_program {
	struct handle handle;
	const struct entry *result, *log; /* answer the getters; NULL: the real program does */
	enum nvvm_work latest;            /* of the calls that it really had */
	bool has_worked;                  /* it had any */
};

enum nvvm_module_kind { MODULE_NEEDED, MODULE_LAZY };

struct nvvm_module {
	enum nvvm_module_kind kind;
	const char *bytes;
	size_t size;
	const char *name; /* NULL as given */
};

/* Where there is no memory, what was known of that handle is forgotten. */
void nvvm_program_add(void *value, struct library *library);
/* NULL: unknown, or no program of libNVVM's. */
struct nvvm_program *nvvm_program_find(void *value);

static inline struct nvvm_program *nvvm_program_of(const struct handle *handle)
{
	return (struct nvvm_program *)handle;
}

/* A module is about to come: what the real program owes, and somebody could see the lack of, is made up for. */
void nvvm_program_settle(struct nvvm_program *program);
void nvvm_program_add_module(struct nvvm_program *program, const struct nvvm_module *module);

/* The real program is about to do this. */
void nvvm_program_works(struct nvvm_program *program, enum nvvm_work work);
/* The compiler's about(). */
void nvvm_program_about(const struct handle *handle, const struct call *call, struct stream *about);
/* The compiler's served(). */
void nvvm_program_served(struct handle *handle, const struct entry *entry);

/* The compiler's answer_from(). */
const struct entry *nvvm_program_answer(const struct handle *handle, size_t artifact);

#endif
