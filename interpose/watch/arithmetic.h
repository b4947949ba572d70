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
 * Errors: a library whose functions cannot be identified is ARITHMETIC_UNKNOWN; its results are not cached if a
 * compilation used such functions. Threads: the caller serialises arithmetic_add() for each library; replacements run
 * on any thread. Fork, signals: a child never finds half-written state. Ownership: the struct is the caller's.
 */
#ifndef INTERPOSE_WATCH_ARITHMETIC_H
#define INTERPOSE_WATCH_ARITHMETIC_H

#include "interpose/elf/elf.h"
#include "keygen/digest.h"

#include <stdatomic.h>

/*
 * X(kind, name), in strcmp order. D: double(double), F: float(float), DD and FF: two arguments, ODD: any other
 * signature, which has no replacement. If a library imports an ODD function, every compilation is assumed to call it. A
 * function of libm that is listed neither here nor in imports.h makes the library unwatchable.
 */
/* clang-format off */
#define ARITHMETIC(X) \
	X(ODD, __sincos) X(ODD, __sincosf) \
	X(D, acos) X(F, acosf) X(D, acosh) X(F, acoshf) X(ODD, acosl) X(D, asin) X(F, asinf) X(D, asinh) X(F, asinhf) \
	X(ODD, asinl) X(D, atan) X(DD, atan2) X(FF, atan2f) X(ODD, atan2l) X(F, atanf) X(D, atanh) X(F, atanhf) \
	X(ODD, atanl) X(D, cbrt) X(F, cbrtf) X(ODD, cexp) X(ODD, clog) X(D, cos) X(F, cosf) X(D, cosh) X(F, coshf) \
	X(ODD, coshl) X(ODD, cosl) X(D, erf) X(D, erfc) X(F, erfcf) X(F, erff) X(D, exp) X(D, exp10) X(F, exp10f) \
	X(D, exp2) X(F, exp2f) X(ODD, exp2l) X(F, expf) X(ODD, expl) X(D, expm1) X(F, expm1f) X(DD, hypot) \
	X(FF, hypotf) X(D, j0) X(F, j0f) X(D, j1) X(F, j1f) X(ODD, jn) X(ODD, jnf) X(ODD, lgamma) X(ODD, lgamma_r) \
	X(ODD, lgammaf) X(ODD, lgammaf_r) X(D, log) X(D, log10) X(F, log10f) X(ODD, log10l) X(D, log1p) X(F, log1pf) \
	X(D, log2) X(F, log2f) X(ODD, log2l) X(F, logf) X(ODD, logl) X(DD, pow) X(FF, powf) X(ODD, powl) X(D, sin) \
	X(ODD, sincos) X(ODD, sincosf) X(F, sinf) X(D, sinh) X(F, sinhf) X(ODD, sinhl) X(ODD, sinl) X(D, tan) X(F, tanf) \
	X(D, tanh) X(F, tanhf) X(ODD, tanhl) X(ODD, tanl) X(ODD, tgamma) X(ODD, tgammaf) X(ODD, y0) X(ODD, y0f) X(ODD, y1) \
	X(ODD, y1f) X(ODD, yn) X(ODD, ynf)
/* clang-format on */

enum arithmetic_id {
#define ARITHMETIC_ID(kind, name) ARITHMETIC_##name,
	ARITHMETIC(ARITHMETIC_ID)
#undef ARITHMETIC_ID
	    ARITHMETIC_COUNT
};

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
	struct arithmetic_unbound unbound[ARITHMETIC_COUNT];
	size_t unbound_count;
	enum arithmetic_knowledge knowledge;
	struct key digest;
	uintptr_t real[ARITHMETIC_COUNT];
};

/* What happens to the slot of an import: nothing, or it is redirected to the replacement. */
enum arithmetic_slot { ARITHMETIC_KEPT, ARITHMETIC_REDIRECTED };

/* Records an import. `ret_replacement` is set for ARITHMETIC_REDIRECTED. */
enum arithmetic_slot arithmetic_add(struct arithmetic *arithmetic, const struct elf_object *object,
                                    const struct elf_import *import, uintptr_t *ret_replacement);
/* Computes the digest of the recorded functions and of libm. */
void arithmetic_end(struct arithmetic *arithmetic);
/* Returns true if `name` is in the list above. */
bool arithmetic_knows(const char *name);
/* Returns true if a function without a replacement was called. After that, no result of the library can be cached. */
bool arithmetic_missed(const struct arithmetic *arithmetic);

/* Returns the rounding mode, flush-to-zero bits and exception masks of this thread, without the exception flags. */
uint64_t arithmetic_mode(void);
/* Sets that mode; the exception flags do not change. */
void arithmetic_restore(uint64_t mode);

#endif
