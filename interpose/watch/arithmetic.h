/* SPDX-License-Identifier: MIT */
/*
 * arithmetic: the mathematics functions with which a compiler folds constants
 *
 * Purpose: NVRTC folds constants with sin(), pow() and related functions of the host's libm. The last bit of a constant
 * depends on that libm, on its version, on the variant of the function that it selects for this processor, and on the
 * calling thread's rounding mode and flush-to-zero bits. Measured with NVRTC 11.8 to 13.5: upward rounding changes the
 * PTX; flush-to-zero makes 11.8 and 12.4 reject a denormal constant.
 *
 * Therefore the floating-point mode is part of every key (arithmetic_mode()). The library's import slots of functions
 * that need not be exact are redirected to replacements, which make the real call and taint the trace with
 * TAINT_ARITHMETIC. The result then depends on a digest of the real functions (build-id and offset of each) and of
 * libm, because another object's function of that name may call libm's. Correctly rounded functions (sqrt, fmod, floor,
 * strtod) give the same result everywhere and are not redirected.
 *
 * The real function is the one to which the loader bound the slot. For a slot that is not bound yet, it is the function
 * that is found in the library's scope. If an object other than libm defines a function of that name, the loader may
 * prefer that one, and it may be unrelated (a program's own log()); then the slot is not redirected. As long as the
 * slot is unbound, the function was not called (arithmetic_missed()).
 *
 * Calling sequence: arithmetic_add() for each import of one library, then arithmetic_end(), all from watch_patch().
 * If a library imports an ODD function, every compilation is assumed to call it. A function of libm that is not listed
 * makes the library unwatchable.
 *
 * Errors: a library whose functions cannot be identified is ARITHMETIC_UNKNOWN; its results are not cached if a
 * compilation used such functions. Threads: the caller serialises arithmetic_add() for each library; replacements run
 * on any thread. Fork, signals: a child never finds half-written state. Ownership: the struct is the caller's.
 */
#ifndef INTERPOSE_WATCH_ARITHMETIC_H
#define INTERPOSE_WATCH_ARITHMETIC_H

#include "interpose/elf/elf.h"
#include "keygen/digest.h"

#include <stdatomic.h>

struct import_entry;

#define ARITHMETIC_MAX 128 /* functions in imports.h */

enum arithmetic_knowledge {
	ARITHMETIC_WATCHED, /* the trace shows whether a compilation called any */
	ARITHMETIC_ALWAYS,  /* some calls cannot be observed: every compilation counts as having made them */
	ARITHMETIC_UNKNOWN  /* the real functions cannot be identified */
};

struct arithmetic_unbound {
	_Atomic(uintptr_t) *slot;
	uintptr_t stub;
};

/*
 * Finds a function by name and version: in the global scope, or, if `library` is not NULL, in that library's own scope.
 * Returns 0 if there is none.
 */
typedef uintptr_t watch_resolver(const struct elf_object *library, const char *name, const char *version);

/* The mathematics functions of one library. At first all fields except `resolve` are zero. */
struct arithmetic {
	watch_resolver *resolve;
	struct arithmetic_unbound unbound[ARITHMETIC_MAX];
	size_t unbound_count;
	enum arithmetic_knowledge knowledge;
	struct key digest;
};

/*
 * Records an import, and in `real` its function. Returns true if its slot must be redirected to the entry's
 * replacement.
 */
bool arithmetic_add(struct arithmetic *arithmetic, const struct elf_object *object, const struct elf_import *import,
                    const struct import_entry *entry, uintptr_t *real);
/* Computes the digest of the recorded functions, by import, and of libm. */
void arithmetic_end(struct arithmetic *arithmetic, const uintptr_t real[]);
/* Returns true if a function without a replacement was called. After that, no result of the library can be cached. */
bool arithmetic_missed(const struct arithmetic *arithmetic);

/* Returns the rounding mode, flush-to-zero bits and exception masks of this thread, without the exception flags. */
uint64_t arithmetic_mode(void);
/* Sets that mode; the exception flags do not change. */
void arithmetic_restore(uint64_t mode);

#endif
