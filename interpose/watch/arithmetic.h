/* SPDX-License-Identifier: MIT */
/*
 * arithmetic: what the compiler computes with when it folds constants
 *
 * Purpose: NVRTC takes sin(), pow() and their kin from the host's mathematics library to fold constants, so the last
 * bit of a constant hangs on which library that is, on its version, and on which variant of the function it picks for
 * this processor; and on the rounding mode and the flush-to-zero bits of the calling thread. Measured with NVRTC 11.8
 * to 13.5: round-upward gives other PTX; flush-to-zero makes 11.8 and 12.4 refuse a denormal constant.
 *
 * So the floating-point mode is part of every key (arithmetic_mode()); and the library's import slots of functions
 * that need not be exact are redirected to replacements that do the real call and taint the trace with
 * TAINT_ARITHMETIC: the result is then bound to the digest of the real functions (build-id and offset of each) and of
 * libm, which may stand behind others' functions of those names.
 * Correctly rounded functions (sqrt, fmod, floor, strtod) are the same everywhere and left alone.
 *
 * The real function is what the loader bound the slot to, or would: a slot not bound yet is called once through its PLT
 * stub, with an argument at which the result is exact, so that no flag is raised. Where some other object than libm has
 * a function of that name, which may be anything (a host's log()), the slot is left alone: as long as it is not bound,
 * nobody has called the function (arithmetic_missed()).
 *
 * Calling sequence: arithmetic_add() for each import of one library, then arithmetic_end(), all from watch_patch().
 * Errors: a library whose functions cannot be told from others is ARITHMETIC_UNKNOWN: what it computes is not kept.
 * Threads: adding is serialised per library by the caller; replacements run on any thread. Fork, signals: no state that
 * a child could find half-done. Ownership: the struct is the caller's.
 */
#ifndef INTERPOSE_WATCH_ARITHMETIC_H
#define INTERPOSE_WATCH_ARITHMETIC_H

#include "interpose/elf/elf.h"
#include "keygen/digest.h"

#include <stdatomic.h>

/*
 * X(kind, name), in strcmp order. D: double(double), F: float(float), DD, FF: of two arguments; ODD: any other kind,
 * which is not watched: a library that imports it, or one of libm's that is not here and not exact, is taken to use it
 * in every compile.
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
	ARITHMETIC_WATCHED, /* the trace tells whether a compile used any */
	ARITHMETIC_ALWAYS,  /* some use could not be seen: every compile counts as one that did */
	ARITHMETIC_UNKNOWN  /* and nobody can tell what it used */
};

struct arithmetic_unbound {
	_Atomic(uintptr_t) *slot;
	uintptr_t stub;
};

/* What one library computes with. */
struct arithmetic {
	struct arithmetic_unbound unbound[ARITHMETIC_COUNT];
	size_t unbound_count;
	enum arithmetic_knowledge knowledge;
	struct key digest;
	uintptr_t real[ARITHMETIC_COUNT];
	bool has_libm;
	struct elf_object libm;
};

/*
 * Takes note of an import. Returns true where the slot is to be redirected to *ret_replacement; false where it is left
 * alone, as those of all other functions are.
 */
bool arithmetic_add(struct arithmetic *arithmetic, const struct elf_object *object, const struct elf_import *import,
                    uintptr_t *ret_replacement);
void arithmetic_end(struct arithmetic *arithmetic);
/* Is it one of the functions above? */
bool arithmetic_knows(const char *name);
/* Has a function been called that nobody watches? From then on nothing can be kept. */
bool arithmetic_missed(const struct arithmetic *arithmetic);

/* Rounding mode, flush-to-zero and the like of this thread, without the flags that operations leave behind. */
uint64_t arithmetic_mode(void);
/* Makes it so again; those flags stay. */
void arithmetic_restore(uint64_t mode);

#endif
