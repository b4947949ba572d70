/* SPDX-License-Identifier: MIT */
/*
 * functions: all of NVRTC's functions from 11.0 to 13.5
 *
 * NVRTC_HANDLED: functions that operate on a program, or change later results; each has a door. X(name, since, gone,
 * (parameters), arguments...): `since` and `gone` are releases, major * 100 + minor; gone 9999: still there. All return
 * nvrtcResult (int).
 *
 * NVRTC_PLAIN: functions that take no program. They are never interposed; dlsym returns the real ones. NVRTC_PRODUCTS:
 * the outputs of a compilation, X(name, since, gone, ...), each with a Get<name>Size and a Get<name> in NVRTC_HANDLED.
 * Stored results contain the position as the number of the section, so new products are added at the end.
 *
 * __nvrtcCPEx is nvrtcCreateProgram with extensions. Its parameters after the number of extensions are not documented;
 * as many words are forwarded as any known caller passes. __nvrtcNvvmHandle (from 13.1 on) is private too, and treated
 * as an unknown function.
 */
#ifndef INTERPOSE_NVRTC_FUNCTIONS_H
#define INTERPOSE_NVRTC_FUNCTIONS_H

#include "interpose/compiler.h"
#include "interpose/door/doors.h"

#include <stdbool.h>
#include <stddef.h>

/* The part of NVRTC's interface that is used, declared here so that the build needs no toolkit. */

typedef struct nvrtc_program_of_the_library *nvrtcProgram;
typedef int flow_callback(void *payload, void *reserved);

/* The nvrtcResult values that are returned or compared. */
enum nvrtc_result {
	RESULT_SUCCESS = 0,
	RESULT_OUT_OF_MEMORY = 1,
	RESULT_INVALID_INPUT = 3,
	RESULT_INVALID_PROGRAM = 4,
	RESULT_INVALID_OPTION = 5,
	RESULT_COMPILATION = 6,
	RESULT_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
	RESULT_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
	RESULT_NAME_EXPRESSION_NOT_VALID = 10,
	RESULT_INTERNAL_ERROR = 11
};

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
	NVRTC_PRODUCTS(NVRTC_GETTERS, X)                                                                               \
	X(nvrtcGetPCHCreateStatus, 1208, 9999, (nvrtcProgram program), program)                                        \
	X(nvrtcGetPCHHeapSizeRequired, 1208, 9999, (nvrtcProgram program, size_t *size), program, size)                \
	X(nvrtcSetPCHHeapSize, 1208, 9999, (size_t size), size)                                                        \
	X(nvrtcSetFlowCallback, 1208, 9999, (nvrtcProgram program, flow_callback * callback, void *payload), program,  \
	  callback, payload)                                                                                           \
	X(__nvrtcCPEx, 1102, 9999,                                                                                     \
	  (nvrtcProgram * program, const char *source, const char *name, int header_count, const char *const *headers, \
	   const char *const *include_names, int extension_count, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d), \
	  program, source, name, header_count, headers, include_names, extension_count, a, b, c, d)

#define NVRTC_PLAIN(X)                \
	X(nvrtcVersion)               \
	X(nvrtcGetErrorString)        \
	X(nvrtcGetNumSupportedArchs)  \
	X(nvrtcGetSupportedArchs)     \
	X(nvrtcGetPCHHeapSize)        \
	X(nvrtcInstallBundledHeaders) \
	X(nvrtcGetBundledHeadersInfo) \
	X(nvrtcRemoveBundledHeaders)

#define NVRTC_PRODUCTS(X, ...)              \
	X(PTX, 700, 9999, __VA_ARGS__)      \
	X(CUBIN, 1101, 9999, __VA_ARGS__)   \
	X(NVVM, 1104, 1300, __VA_ARGS__)    \
	X(LTOIR, 1200, 9999, __VA_ARGS__)   \
	X(OptiXIR, 1200, 9999, __VA_ARGS__) \
	X(TileIR, 1302, 9999, __VA_ARGS__)  \
	X(ProgramLog, 700, 9999, __VA_ARGS__)

/* The rows of a product's getters. */
#define NVRTC_GETTERS(name, since, gone, X)                                                       \
	X(nvrtcGet##name##Size, since, gone, (nvrtcProgram program, size_t *size), program, size) \
	X(nvrtcGet##name, since, gone, (nvrtcProgram program, char *bytes), program, bytes)

NVRTC_HANDLED(COMPILER_TYPE)

enum nvrtc_function { NVRTC_HANDLED(COMPILER_ENUM) FUNCTION_COUNT };

enum nvrtc_product {
#define PRODUCT_ENUM(name, ...) PRODUCT_##name,
	NVRTC_PRODUCTS(PRODUCT_ENUM, )
#undef PRODUCT_ENUM
	    PRODUCT_COUNT
};

extern const struct compiler_function nvrtc_functions[FUNCTION_COUNT]; /* in handlers.c */

#endif
