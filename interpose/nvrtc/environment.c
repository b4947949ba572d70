/* SPDX-License-Identifier: MIT */
/*
 * The variables that NVRTC reads (interpose/watch/environment.h says what becomes of them).
 *
 * NVRTC_APPEND_FLAGS and its gate NVRTCWIZ are left out on purpose: they add options that we have not read, so a
 * result is neither kept nor served where one of them is set.
 */
#include "interpose/watch/environment.h"
#include "interpose/nvrtc/functions.h"

/* X(kind, name) */
#define NVRTC_VARIABLES(X)                                                      \
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

static const struct variable variables[] = {NVRTC_VARIABLES(ENVIRONMENT_VARIABLE)};

struct environment nvrtc_environment = ENVIRONMENT_OF(NVRTC_VARIABLES, variables);
