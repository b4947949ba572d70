/* SPDX-License-Identifier: MIT */
/*
 * nvrtc_functions: all of NVRTC's functions from 11.0 to 13.5, once.
 *
 * NVRTC_HANDLED: those that a program's life passes through, or that change what it gives; a door of ours stands before
 * each.
 * X(name, since, gone, (parameters), arguments...): since and gone are releases, major * 100 + minor;
 * gone 9999: still there. All return nvrtcResult (int).
 *
 * NVRTC_PLAIN: those that concern no program: never interposed, dlsym gives the real one.
 * NVRTC_PRODUCTS: what a compile leaves, each with a Get<name>Size and a Get<name>.
 *
 * __nvrtcCPEx and __nvrtcNvvmHandle (13.5) are private; the first has a door of its own (doors.c), the second is
 * treated like any unknown function.
 */
#ifndef INTERPOSE_NVRTC_FUNCTIONS_H
#define INTERPOSE_NVRTC_FUNCTIONS_H

#include <stdbool.h>

#define NVRTC_HANDLED(X)                                                                                               \
	X(nvrtcCreateProgram, 700, 9999,                                                                               \
	  (nvrtcProgram * program, const char *source, const char *name, int header_count, const char *const *headers, \
	   const char *const *include_names),                                                                          \
	  program, source, name, header_count, headers, include_names)                                                 \
	X(nvrtcDestroyProgram, 700, 9999, (nvrtcProgram * program), program)                                           \
	X(nvrtcCompileProgram, 700, 9999, (nvrtcProgram program, int option_count, const char *const *options),        \
	  program, option_count, options)                                                                              \
	X(nvrtcAddNameExpression, 800, 9999, (nvrtcProgram program, const char *expression), program, expression)      \
	X(nvrtcGetLoweredName, 800, 9999, (nvrtcProgram program, const char *expression, const char **name), program,  \
	  expression, name)                                                                                            \
	X(nvrtcGetPTXSize, 700, 9999, (nvrtcProgram program, size_t * size), program, size)                            \
	X(nvrtcGetPTX, 700, 9999, (nvrtcProgram program, char *bytes), program, bytes)                                 \
	X(nvrtcGetCUBINSize, 1101, 9999, (nvrtcProgram program, size_t * size), program, size)                         \
	X(nvrtcGetCUBIN, 1101, 9999, (nvrtcProgram program, char *bytes), program, bytes)                              \
	X(nvrtcGetNVVMSize, 1104, 1300, (nvrtcProgram program, size_t * size), program, size)                          \
	X(nvrtcGetNVVM, 1104, 1300, (nvrtcProgram program, char *bytes), program, bytes)                               \
	X(nvrtcGetLTOIRSize, 1200, 9999, (nvrtcProgram program, size_t * size), program, size)                         \
	X(nvrtcGetLTOIR, 1200, 9999, (nvrtcProgram program, char *bytes), program, bytes)                              \
	X(nvrtcGetOptiXIRSize, 1200, 9999, (nvrtcProgram program, size_t * size), program, size)                       \
	X(nvrtcGetOptiXIR, 1200, 9999, (nvrtcProgram program, char *bytes), program, bytes)                            \
	X(nvrtcGetTileIRSize, 1302, 9999, (nvrtcProgram program, size_t * size), program, size)                        \
	X(nvrtcGetTileIR, 1302, 9999, (nvrtcProgram program, char *bytes), program, bytes)                             \
	X(nvrtcGetProgramLogSize, 700, 9999, (nvrtcProgram program, size_t * size), program, size)                     \
	X(nvrtcGetProgramLog, 700, 9999, (nvrtcProgram program, char *bytes), program, bytes)                          \
	X(nvrtcGetPCHCreateStatus, 1208, 9999, (nvrtcProgram program), program)                                        \
	X(nvrtcGetPCHHeapSizeRequired, 1208, 9999, (nvrtcProgram program, size_t * size), program, size)               \
	X(nvrtcSetPCHHeapSize, 1208, 9999, (size_t size), size)                                                        \
	X(nvrtcSetFlowCallback, 1208, 9999, (nvrtcProgram program, flow_callback * callback, void *payload), program,  \
	  callback, payload)

#define NVRTC_PLAIN(X)                \
	X(nvrtcVersion)               \
	X(nvrtcGetErrorString)        \
	X(nvrtcGetNumSupportedArchs)  \
	X(nvrtcGetSupportedArchs)     \
	X(nvrtcGetPCHHeapSize)        \
	X(nvrtcInstallBundledHeaders) \
	X(nvrtcGetBundledHeadersInfo) \
	X(nvrtcRemoveBundledHeaders)

#define NVRTC_PRODUCTS(X) \
	X(PTX)            \
	X(CUBIN)          \
	X(NVVM)           \
	X(LTOIR)          \
	X(OptiXIR)        \
	X(TileIR)         \
	X(ProgramLog)

/* (a, b, c) -> a, b, c */
#define NVRTC_UNPACK(...) __VA_ARGS__

enum nvrtc_function {
#define FUNCTION_ENUM(name, ...) FUNCTION_##name,
	NVRTC_HANDLED(FUNCTION_ENUM)
#undef FUNCTION_ENUM
	    FUNCTION_COUNT
};

enum nvrtc_product {
#define PRODUCT_ENUM(name) PRODUCT_##name,
	NVRTC_PRODUCTS(PRODUCT_ENUM)
#undef PRODUCT_ENUM
	    PRODUCT_COUNT
};

const char *nvrtc_function_name(enum nvrtc_function function);
/* Has this release (major * 100 + minor) that function? */
bool nvrtc_function_lives(enum nvrtc_function function, int release);
/* Does dlsym of this name (nvrtc* or __nvrtc*) need a door at all? False for plain functions and builtins. */
bool nvrtc_needs_door(const char *name);
/* Is it one of those that give a product or its size? */
bool nvrtc_gets_product(const char *name);

#endif
