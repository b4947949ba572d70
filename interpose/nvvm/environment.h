/* SPDX-License-Identifier: MIT */
/*
 * environment: the variables that libNVVM reads (interpose/watch/environment.h says what becomes of them)
 */
#ifndef INTERPOSE_NVVM_ENVIRONMENT_H
#define INTERPOSE_NVVM_ENVIRONMENT_H

#include "interpose/watch/environment.h"

/* X(kind, name) */
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

extern struct environment nvvm_environment;

#endif
