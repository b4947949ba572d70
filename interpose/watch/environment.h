/* SPDX-License-Identifier: MIT */
/*
 * environment: which variables the compiler reads, and their values (docs/DESIGN.md B1, B9)
 *
 * Purpose: gives the values of the variables that NVRTC is known to read, in a fixed order, for the key; and tells of a
 * variable that was seen to be asked for whether it is on that list.
 *
 * Some are read when the library is loaded, which may be long before we hear of it. Their value in the key is the
 * present one, and the request is passed through when it differs from the one the process started with: then nobody
 * knows which of the two the library saw.
 *
 * NVRTC_APPEND_FLAGS and its gate NVRTCWIZ are left out on purpose: they add options that we have not read, so a
 * result is neither kept nor served where one of them is set.
 *
 * Threads: like getenv: safe as long as the host does not change its environment meanwhile.
 * Errors: a variable list is always produced. Fork, signals: no state but the values read at the start.
 * Ownership: values point into the environment: use them before the host can change it.
 */
#ifndef INTERPOSE_WATCH_ENVIRONMENT_H
#define INTERPOSE_WATCH_ENVIRONMENT_H

#include "interpose/nvrtc/request.h"

#include <stdbool.h>

/* X(kind, name): LOAD read at load, CALL at each compile, PLAIN known to leave the output alone, PLACE part of the
 * place */
#define COMPILER_VARIABLES(X)                                                   \
	X(LOAD, AS_SECURE_LOG_FILE)                                             \
	X(LOAD, LIBNVVM_DISABLE_CONCURRENT_API)                                 \
	X(LOAD, LLVM_OVERRIDE_PRODUCER)                                         \
	X(LOAD, NVRTC_DISABLE_CONCURRENT_NVVM)                                  \
	X(LOAD, NVRTC_DISABLE_PCH)                                              \
	X(LOAD, NVRTC_INTERNAL_GLOBAL_LOCK)                                     \
	X(LOAD, NVRTC_PCH_HEAP_SIZE)                                            \
	X(LOAD, NV_NVVM_VERSION)                                                \
	X(LOAD, bar)                                                            \
	X(CALL, CAN_FINALIZE_DEBUG)                                             \
	X(CALL, DUMP_KNOBS_TO_FILE)                                             \
	X(CALL, EDG_BASE)                                                       \
	X(CALL, EDG_MODULES_PATH)                                               \
	X(CALL, LIBNVVM_NVVM_VERSION)                                           \
	X(CALL, NVVM_IR_VER_CHK)                                                \
	X(CALL, TZ)                                                             \
	X(PLAIN, CUDA_CACHE_DISABLE) /* NVRTC's own cache: same results */      \
	X(PLAIN, MAKEFLAGS)          /* 13.5: a job server, how many threads */ \
	X(PLAIN, TMPDIR)             /* where a precompiled header would lie */ \
	X(PLACE, PWD)

#define ENVIRONMENT_ONE(kind, name) +1
#define ENVIRONMENT_COUNT           (0 COMPILER_VARIABLES(ENVIRONMENT_ONE))

/* Fills `values` with the LOAD and CALL variables; returns how many. */
size_t environment_values(struct environment_value values[ENVIRONMENT_COUNT]);
/* Have the LOAD variables kept the values that they had when the process started? */
bool environment_unchanged(const struct environment_value *values, size_t count);
bool environment_known(const char *name);
/* $PWD where it is the same directory as ".", as NVRTC checks it; else NULL. */
const char *environment_pwd(void);
/* Does the locale of this thread have letters beyond ASCII that are one byte (Latin-1, SJIS; not "C", not UTF-8)? */
bool environment_has_letters(void);

/*
 * How decimals are spelled for the compile: NULL where with a dot, else a text in `text` that tells one way from
 * another. ptxas reads the constants of inline assembly by the locale: with a decimal comma "1.5" is 1, in the CUBIN
 * alone (12.9 to 13.5). The thread's locale counts, and the process's, which the compiler's own threads have.
 */
#define ENVIRONMENT_DECIMALS_MAX 300
const char *environment_decimals(char text[ENVIRONMENT_DECIMALS_MAX]);

#endif
