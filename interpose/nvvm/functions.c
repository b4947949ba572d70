/* SPDX-License-Identifier: MIT */
#include "interpose/nvvm/functions.h"

#include "interpose/elf/plain.h"
#include "interpose/watch/environment.h"

const struct compiler_function nvvm_functions[FUNCTION_COUNT] = {NVVM_HANDLED(COMPILER_ROW)};

_Static_assert(FUNCTION_COUNT <= COMPILER_FUNCTIONS_MAX, "a library's record has room for all functions");

static const char *const plain[] = {NVVM_PLAIN(COMPILER_TEXT)};

bool nvvm_owns(const char *name)
{
	return plain_begins(name, "nvvm") || plain_begins(name, "__nvvm");
}

bool nvvm_wants_door(const char *name)
{
	return !compiler_among(name, plain, sizeof(plain) / sizeof(plain[0]));
}

bool nvvm_opens(const char *name)
{
	return plain_begins(name, "__nvvmHandle");
}

/* The variables that libNVVM reads (interpose/watch/environment.h explains the kinds). */

/*
 * X(kind, name). All releases read NVVM_IR_VER_CHK; 12.9 and later also read LIBNVVM_NVVM_VERSION and NV_NVVM_VERSION,
 * at each call, while NVRTC reads the latter only once.
 */
#define NVVM_VARIABLES(X)                       \
	X(LOAD, AS_SECURE_LOG_FILE)             \
	X(LOAD, LIBNVVM_DISABLE_CONCURRENT_API) \
	X(LOAD, LLVM_IGNORED_ENV_VAR)           \
	X(LOAD, LLVM_OVERRIDE_PRODUCER)         \
	X(LOAD, OPENSSL_ia32cap)                \
	X(LOAD, bar)                            \
	X(CALL, LIBNVVM_NVVM_VERSION)           \
	X(CALL, NVVM_IR_VER_CHK)                \
	X(CALL, NV_NVVM_VERSION)

static const struct variable variables[] = {NVVM_VARIABLES(ENVIRONMENT_VARIABLE)};

struct environment nvvm_environment = ENVIRONMENT_OF(NVVM_VARIABLES, variables);
