/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/functions.h"

#include "interpose/elf/plain.h"
#include "interpose/watch/environment.h"

#include <stddef.h>
#include <string.h>

const struct compiler_function nvrtc_functions[FUNCTION_COUNT] = {NVRTC_HANDLED(COMPILER_ROW)};

_Static_assert(FUNCTION_COUNT <= COMPILER_FUNCTIONS_MAX, "a library's record has room for all functions");

static const char *const plain[] = {NVRTC_PLAIN(COMPILER_TEXT)};

bool nvrtc_owns(const char *name)
{
	/* nvrtccache_library_version is exported by this library */
	return (plain_begins(name, "nvrtc") && !plain_begins(name, "nvrtccache")) || plain_begins(name, "__nvrtc");
}

bool nvrtc_wants_door(const char *name)
{
	/* libnvrtc looks these names up in its builtins at its first compilation */
	return !compiler_among(name, plain, sizeof(plain) / sizeof(plain[0])) &&
	       strncmp(name, "__nvrtc_builtins", 16) != 0;
}

/*
 * The variables that NVRTC reads (interpose/watch/environment.h explains the kinds).
 *
 * NVRTC_APPEND_FLAGS and NVRTCWIZ, which enables it, are left out on purpose: they add options that this library has
 * not read. So while one of them is set, no result is cached or served.
 */

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
