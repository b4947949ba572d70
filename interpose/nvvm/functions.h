/* SPDX-License-Identifier: MIT */
/*
 * functions: libNVVM's functions from 11.8 to 13.5
 *
 * NVVM_HANDLED: functions on a program, each with a door. X(name, since, gone, (parameters), arguments...); all return
 * nvvmResult (int), and all releases have them.
 *
 * NVVM_PLAIN: functions that take no program; dlsym returns the real ones.
 *
 * __nvvmHandle and __nvvmHandleTarget (13.0) are private, and return functions with which a host changes programs
 * without this library. Once one of them is looked up, the library is bypassed.
 */
#ifndef INTERPOSE_NVVM_FUNCTIONS_H
#define INTERPOSE_NVVM_FUNCTIONS_H

#include "interpose/compiler.h"
#include "interpose/door/doors.h"

/* The part of libNVVM's interface that is used, declared here so that the build needs no toolkit. */

/* nvvmResult; only the header of 13.0 has 10 (cancelled). */
enum nvvm_result {
	RESULT_SUCCESS = 0,
	RESULT_OUT_OF_MEMORY = 1,
	RESULT_PROGRAM_CREATION_FAILURE = 2,
	RESULT_IR_VERSION_MISMATCH = 3,
	RESULT_INVALID_INPUT = 4,
	RESULT_INVALID_PROGRAM = 5,
	RESULT_INVALID_IR = 6,
	RESULT_INVALID_OPTION = 7,
	RESULT_NO_MODULE_IN_PROGRAM = 8,
	RESULT_COMPILATION = 9
};

/* The kind of a call (interpose/compiler.h). A compilation also leaves everything that a verification leaves. */
enum nvvm_work { WORK_VERIFY = 1, WORK_COMPILE = 2 };

/* The artifacts. Stored results contain the position, so it never changes. */
enum nvvm_artifact { ARTIFACT_RESULT, ARTIFACT_LOG, ARTIFACT_COUNT };

#define NVVM_HANDLED(X)                                                                                                \
	X(nvvmCreateProgram, 0, 9999, (void **program), program)                                                       \
	X(nvvmDestroyProgram, 0, 9999, (void **program), program)                                                      \
	X(nvvmAddModuleToProgram, 0, 9999, (void *program, const char *bytes, size_t size, const char *name), program, \
	  bytes, size, name)                                                                                           \
	X(nvvmLazyAddModuleToProgram, 0, 9999, (void *program, const char *bytes, size_t size, const char *name),      \
	  program, bytes, size, name)                                                                                  \
	X(nvvmVerifyProgram, 0, 9999, (void *program, int option_count, const char *const *options), program,          \
	  option_count, options)                                                                                       \
	X(nvvmCompileProgram, 0, 9999, (void *program, int option_count, const char *const *options), program,         \
	  option_count, options)                                                                                       \
	NVVM_GETTERS(nvvmGetCompiledResult, X)                                                                         \
	NVVM_GETTERS(nvvmGetProgramLog, X)

/* The rows of an artifact's getters. */
#define NVVM_GETTERS(name, X)                                                \
	X(name##Size, 0, 9999, (void *program, size_t *size), program, size) \
	X(name, 0, 9999, (void *program, char *bytes), program, bytes)

#define NVVM_PLAIN(X)         \
	X(nvvmVersion)        \
	X(nvvmIRVersion)      \
	X(nvvmLLVMVersion)    \
	X(nvvmGetErrorString) \
	X(nvvmDisableConcurrentAPI)

NVVM_HANDLED(COMPILER_TYPE)

enum nvvm_function { NVVM_HANDLED(COMPILER_ENUM) FUNCTION_COUNT };

extern const struct compiler_function nvvm_functions[FUNCTION_COUNT]; /* in handlers.c */

#endif
