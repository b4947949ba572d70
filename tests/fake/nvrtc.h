/* SPDX-License-Identifier: MIT */
/*
 * nvrtc: the run-time compiler's interface as the tests use it, declared by hand so that they build without CUDA
 *
 * The X-macro lists every public function with the version that brought it; fixtures make tables from it. FAKE_* macros
 * of the makefile fragment choose what one build of the fake library has.
 */
#ifndef TESTS_FAKE_NVRTC_H
#define TESTS_FAKE_NVRTC_H

#include <stddef.h>

typedef struct _nvrtcProgram *nvrtcProgram;
typedef int nvrtcResult;
typedef int nvrtcFlow(void *payload, void *reserved);

/* X(function, parameters): in every version */
#define NVRTC_BASE(X)                                                                                           \
	X(nvrtcVersion, (int *major, int *minor))                                                               \
	X(nvrtcGetNumSupportedArchs, (int *count))                                                              \
	X(nvrtcGetSupportedArchs, (int *archs))                                                                 \
	X(nvrtcCreateProgram, (nvrtcProgram * program, const char *source, const char *name, int count,         \
	                       const char *const *headers, const char *const *names))                           \
	X(nvrtcDestroyProgram, (nvrtcProgram * program))                                                        \
	X(nvrtcCompileProgram, (nvrtcProgram program, int count, const char *const *options))                   \
	X(nvrtcGetPTXSize, (nvrtcProgram program, size_t *size))                                                \
	X(nvrtcGetPTX, (nvrtcProgram program, char *out))                                                       \
	X(nvrtcGetCUBINSize, (nvrtcProgram program, size_t *size))                                              \
	X(nvrtcGetCUBIN, (nvrtcProgram program, char *out))                                                     \
	X(nvrtcGetProgramLogSize, (nvrtcProgram program, size_t *size))                                         \
	X(nvrtcGetProgramLog, (nvrtcProgram program, char *out))                                                \
	X(nvrtcAddNameExpression, (nvrtcProgram program, const char *expression))                               \
	X(nvrtcGetLoweredName, (nvrtcProgram program, const char *expression, const char **lowered))            \
	X(__nvrtcCPEx,                                                                                          \
	  (nvrtcProgram * program, const char *source, const char *name, int count, const char *const *headers, \
	   const char *const *names, int extension_count, const int *kinds, void *const *values))

/* 11.4 to 12.x */
#define NVRTC_NVVM(X)                                             \
	X(nvrtcGetNVVMSize, (nvrtcProgram program, size_t *size)) \
	X(nvrtcGetNVVM, (nvrtcProgram program, char *out))

/* 12.0 and later */
#define NVRTC_IR(X)                                                  \
	X(nvrtcGetLTOIRSize, (nvrtcProgram program, size_t *size))   \
	X(nvrtcGetLTOIR, (nvrtcProgram program, char *out))          \
	X(nvrtcGetOptiXIRSize, (nvrtcProgram program, size_t *size)) \
	X(nvrtcGetOptiXIR, (nvrtcProgram program, char *out))

/* 12.8 and later */
#define NVRTC_PCH(X)                                                         \
	X(nvrtcGetPCHHeapSize, (size_t *size))                               \
	X(nvrtcSetPCHHeapSize, (size_t size))                                \
	X(nvrtcGetPCHCreateStatus, (nvrtcProgram program))                   \
	X(nvrtcGetPCHHeapSizeRequired, (nvrtcProgram program, size_t *size)) \
	X(nvrtcSetFlowCallback, (nvrtcProgram program, nvrtcFlow * callback, void *payload))

/* 13.2 and later */
#define NVRTC_TILE(X)                                               \
	X(nvrtcGetTileIRSize, (nvrtcProgram program, size_t *size)) \
	X(nvrtcGetTileIR, (nvrtcProgram program, char *out))

/* Of no version: what a coming one may bring */
#define NVRTC_FUTURE(X) X(nvrtcFutureThing, (nvrtcProgram program, int *compiles))

#define NVRTC_ALL(X) NVRTC_BASE(X) NVRTC_NVVM(X) NVRTC_IR(X) NVRTC_PCH(X) NVRTC_TILE(X) NVRTC_FUTURE(X)

#define NVRTC_DECLARE(name, parameters) __attribute__((visibility("default"))) nvrtcResult name parameters;
NVRTC_ALL(NVRTC_DECLARE)
#undef NVRTC_DECLARE
__attribute__((visibility("default"))) const char *nvrtcGetErrorString(nvrtcResult result);

/* The fake's own: compiles done by this library in this process. */
__attribute__((visibility("default"))) int fakeNvrtcCompiles(void);

/* The program's own, if it has one: called in the middle of every compile, unseen by whoever watches the library. */
__attribute__((weak, visibility("default"))) void fakeNvrtcGate(void);

/* What comes out otherwise than by its inputs: PTX, CUBIN, ProgramLog, names or code; "": nothing. Unseen as well. */
extern __attribute__((visibility("default"))) char fakeNvrtcWhim[16];

enum {
	NVRTC_SUCCESS,
	NVRTC_OUT_OF_MEMORY,
	NVRTC_PROGRAM_CREATION_FAILURE,
	NVRTC_INVALID_INPUT,
	NVRTC_INVALID_PROGRAM,
	NVRTC_INVALID_OPTION,
	NVRTC_COMPILATION,
	NVRTC_BUILTIN_OPERATION_FAILURE,
	NVRTC_NO_NAMES_AFTER_COMPILATION,
	NVRTC_NO_LOWERED_NAMES_BEFORE_COMPILATION,
	NVRTC_NAME_NOT_VALID,
	NVRTC_INTERNAL_ERROR,
	NVRTC_TIME_FILE_WRITE_FAILED,
	NVRTC_NO_PCH_CREATE_ATTEMPTED,
	NVRTC_PCH_CREATE_HEAP_EXHAUSTED,
	NVRTC_PCH_CREATE,
	NVRTC_CANCELLED
};

#endif
