/* SPDX-License-Identifier: MIT */
/*
 * nvvm: libNVVM's interface, and what the fake one has besides
 *
 * It answers as libNVVM 13.0 does, with the same codes and sizes. What it does hangs on words in the modules:
 *
 *     broken      cannot be parsed: 6 or 9, and a log
 *     clash       cannot be linked: 6 or 9, and a log
 *     ancient     3, and a log
 *     exhausted   9, and a log that says that there was no memory; nomemory: 1; speechless: 9, and no log
 *     warn        0, and a log
 *     round       the result has a constant that was folded in the thread's rounding mode
 *     odd         the result has the value of FAKE_NVVM_ODD, which nobody knows
 *     errno       a compile counts errno up, as making, adding and destroying do in any case
 *     unseen      nothing is asked of the environment
 *
 * The result is a line of the flavour, the options and NV_NVVM_VERSION, then a line per module that is needed, and one
 * per lazy module whose name is in one of those. -restrict, -Xllc X and -unheard-of are obeyed by all later compiles too.
 * -gen-lto gives it without a NUL, and with the modules' names.
 */
#ifndef TESTS_FAKE_NVVM_NVVM_H
#define TESTS_FAKE_NVVM_NVVM_H

#include <stddef.h>

typedef struct nvvm_program *nvvmProgram;

enum nvvm_result {
	NVVM_SUCCESS,
	NVVM_OUT_OF_MEMORY,
	NVVM_PROGRAM_CREATION_FAILURE,
	NVVM_IR_VERSION_MISMATCH,
	NVVM_INVALID_INPUT,
	NVVM_INVALID_PROGRAM,
	NVVM_INVALID_IR,
	NVVM_INVALID_OPTION,
	NVVM_NO_MODULE_IN_PROGRAM,
	NVVM_COMPILATION
};

#define NVVM_FUNCTIONS(X)                                                                                           \
	X(int, nvvmVersion, (int *major, int *minor))                                                               \
	X(const char *, nvvmGetErrorString, (int result))                                                           \
	X(int, nvvmCreateProgram, (nvvmProgram * program))                                                          \
	X(int, nvvmDestroyProgram, (nvvmProgram * program))                                                         \
	X(int, nvvmAddModuleToProgram, (nvvmProgram program, const char *bytes, size_t size, const char *name))     \
	X(int, nvvmLazyAddModuleToProgram, (nvvmProgram program, const char *bytes, size_t size, const char *name)) \
	X(int, nvvmVerifyProgram, (nvvmProgram program, int option_count, const char **options))                    \
	X(int, nvvmCompileProgram, (nvvmProgram program, int option_count, const char **options))                   \
	X(int, nvvmGetCompiledResultSize, (nvvmProgram program, size_t *size))                                      \
	X(int, nvvmGetCompiledResult, (nvvmProgram program, char *bytes))                                           \
	X(int, nvvmGetProgramLogSize, (nvvmProgram program, size_t *size))                                          \
	X(int, nvvmGetProgramLog, (nvvmProgram program, char *bytes))

/*
 * nvvmInspectProgram: one that came later, and that no table knows: how many modules are there, and which sizes have
 * result and log? Read from the program itself. __nvvmHandle: gives out the same, as a private function.
 */
#define NVVM_LATER(X)                                                                                   \
	X(int, nvvmInspectProgram, (nvvmProgram program, size_t *modules, size_t *result, size_t *log)) \
	X(void *, __nvvmHandle, (int magic))

/* The fake's own: how often it has verified and compiled in this process. */
#define NVVM_OWN(X)                      \
	X(int, fakeNvvmVerifies, (void)) \
	X(int, fakeNvvmCompiles, (void))

#define NVVM_DECLARE(type, name, parameters) __attribute__((visibility("default"))) type name parameters;
NVVM_FUNCTIONS(NVVM_DECLARE)
NVVM_LATER(NVVM_DECLARE)
NVVM_OWN(NVVM_DECLARE)
#undef NVVM_DECLARE

/* What results end with, otherwise than by the input; "": nothing. */
extern __attribute__((visibility("default"))) char fakeNvvmWhim[16];

#endif
