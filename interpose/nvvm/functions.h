/* SPDX-License-Identifier: MIT */
/*
 * functions: libNVVM's functions from 11.8 to 13.5
 *
 * NVVM_HANDLED: functions on a program, each with a door. X(name, since, gone, (parameters), arguments...); all return
 * nvvmResult (int), and every release has them.
 *
 * NVVM_PLAIN: functions that take no program; dlsym returns the real one.
 *
 * __nvvmHandle and __nvvmHandleTarget (13.0) are private, and return functions that change programs without passing
 * through this library: once one of them is looked up, the library is bypassed.
 */
#ifndef INTERPOSE_NVVM_FUNCTIONS_H
#define INTERPOSE_NVVM_FUNCTIONS_H

#include "interpose/compiler.h"

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
	X(nvvmGetCompiledResultSize, 0, 9999, (void *program, size_t *size), program, size)                            \
	X(nvvmGetCompiledResult, 0, 9999, (void *program, char *bytes), program, bytes)                                \
	X(nvvmGetProgramLogSize, 0, 9999, (void *program, size_t *size), program, size)                                \
	X(nvvmGetProgramLog, 0, 9999, (void *program, char *bytes), program, bytes)

#define NVVM_PLAIN(X)         \
	X(nvvmVersion)        \
	X(nvvmIRVersion)      \
	X(nvvmLLVMVersion)    \
	X(nvvmGetErrorString) \
	X(nvvmDisableConcurrentAPI)

enum nvvm_function {
#define FUNCTION_ENUM(name, ...) FUNCTION_##name,
	NVVM_HANDLED(FUNCTION_ENUM)
#undef FUNCTION_ENUM
	    FUNCTION_COUNT
};

extern const struct compiler_function nvvm_functions[FUNCTION_COUNT];
extern struct environment nvvm_environment;

/* The compiler's functions of these names (interpose/compiler.h). */
bool nvvm_owns(const char *name);
bool nvvm_wants_door(const char *name);
bool nvvm_opens(const char *name);

#endif
