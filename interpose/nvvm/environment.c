/* SPDX-License-Identifier: MIT */
/* The variables that libNVVM reads (interpose/watch/environment.h says what becomes of them). */
#include "interpose/watch/environment.h"
#include "interpose/nvvm/functions.h"

/* X(kind, name); the last but one in all releases, the other two from 12.9 on, and at each call, where NVRTC asks once. */
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
