/* SPDX-License-Identifier: MIT */
/*
 * The variables that nvJitLink reads (interpose/watch/environment.h says what becomes of them).
 *
 * Some are read when a handle is made or an input is added, so the values of that moment go into the creation run.
 * FINALIZER_CUBIE is left out on purpose: 13.5 writes the CUBIN to the file that it names.
 */
#include "interpose/watch/environment.h"
#include "interpose/nvjitlink/functions.h"

/* X(kind, name) */
#define NVJITLINK_VARIABLES(X)                    \
	X(LOAD, AS_SECURE_LOG_FILE)               \
	X(LOAD, LIBNVVM_DISABLE_CONCURRENT_API)   \
	X(LOAD, LLVM_IGNORED_ENV_VAR)             \
	X(LOAD, LLVM_OVERRIDE_PRODUCER)           \
	X(LOAD, OPENSSL_ia32cap)                  \
	X(LOAD, bar)                              \
	X(CALL, CAN_FINALIZE_DEBUG)               \
	X(CALL, DUMP_KNOBS_TO_FILE)               \
	X(CALL, FINALIZER_USE_LEGACY_ELF_BUILDER) \
	X(CALL, LIBNVVM_NVVM_VERSION)             \
	X(CALL, NVJITLINK_TRACE_MESSAGES)         \
	X(CALL, NVVM_IR_VER_CHK)                  \
	X(CALL, NV_NVVM_VERSION)                  \
	X(PLAIN, MAKEFLAGS) /* 13.5: a job server, how many threads */

static const struct variable variables[] = {NVJITLINK_VARIABLES(ENVIRONMENT_VARIABLE)};

struct environment nvjitlink_environment = ENVIRONMENT_OF(NVJITLINK_VARIABLES, variables);
