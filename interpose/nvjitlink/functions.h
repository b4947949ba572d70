/* SPDX-License-Identifier: MIT */
/*
 * functions: nvJitLink's functions on a handle: X(name, since, gone, (parameters), arguments...); all return int
 *
 * A library exports each function as nvJitLinkX and as __nvJitLinkX_<major>_<minor> for every minor release up to its
 * own. All these names belong to one function, which is listed here once by its plain name.
 *
 * nvJitLinkVersion takes no handle, so dlsym returns the real one. __nvJitLinkAPI returns functions with which a
 * program operates on handles without this library.
 */
#ifndef INTERPOSE_NVJITLINK_FUNCTIONS_H
#define INTERPOSE_NVJITLINK_FUNCTIONS_H

#include "interpose/compiler.h"
#include "interpose/door/doors.h"

#include <stddef.h>
#include <stdint.h>

/* The part of nvJitLink's interface that is used, declared here so that the build needs no toolkit. */

typedef void *nvjitlink_handle;

/* The return codes that this library compares or returns. */
enum nvjitlink_result {
	NVJITLINK_SUCCESS = 0,
	NVJITLINK_UNRECOGNIZED_OPTION = 1,
	NVJITLINK_MISSING_ARCH = 2,
	NVJITLINK_INVALID_INPUT = 3,
	NVJITLINK_PTX_COMPILE = 4,
	NVJITLINK_NVVM_COMPILE = 5,
	NVJITLINK_INTERNAL = 6,
	NVJITLINK_NULL_INPUT = 10 /* from 13.0 on */
};

enum nvjitlink_type {
	NVJITLINK_CUBIN = 1,
	NVJITLINK_PTX = 2,
	NVJITLINK_LTOIR = 3,
	NVJITLINK_FATBIN = 4,
	NVJITLINK_OBJECT = 5,
	NVJITLINK_LIBRARY = 6,
	NVJITLINK_ANY = 10
};

#define NVJITLINK_HANDLED(X)                                                                                        \
	X(nvJitLinkCreate, 1200, 9999, (nvjitlink_handle * handle, uint32_t option_count, const char **options),    \
	  handle, option_count, options)                                                                            \
	X(nvJitLinkDestroy, 1200, 9999, (nvjitlink_handle * handle), handle)                                        \
	X(nvJitLinkAddData, 1200, 9999,                                                                             \
	  (nvjitlink_handle handle, int type, const void *data, size_t size, const char *name), handle, type, data, \
	  size, name)                                                                                               \
	X(nvJitLinkAddFile, 1200, 9999, (nvjitlink_handle handle, int type, const char *path), handle, type, path)  \
	X(nvJitLinkComplete, 1200, 9999, (nvjitlink_handle handle), handle)                                         \
	NVJITLINK_ARTIFACTS(NVJITLINK_GETTERS, X)

/*
 * The artifacts, X(name, since, ...), each with a size and a bytes getter. Stored results contain the position, so it
 * never changes.
 */
#define NVJITLINK_ARTIFACTS(X, ...)       \
	X(LinkedCubin, 1200, __VA_ARGS__) \
	X(LinkedPtx, 1200, __VA_ARGS__)   \
	X(ErrorLog, 1200, __VA_ARGS__)    \
	X(InfoLog, 1200, __VA_ARGS__)     \
	X(LinkedLTOIR, 1302, __VA_ARGS__)

/* The rows of an artifact's getters. */
#define NVJITLINK_GETTERS(name, since, X)                                                               \
	X(nvJitLinkGet##name##Size, since, 9999, (nvjitlink_handle handle, size_t *size), handle, size) \
	X(nvJitLinkGet##name, since, 9999, (nvjitlink_handle handle, void *bytes), handle, bytes)

NVJITLINK_HANDLED(COMPILER_TYPE)

enum nvjitlink_function { NVJITLINK_HANDLED(COMPILER_ENUM) NVJITLINK_FUNCTION_COUNT };

enum nvjitlink_artifact {
#define ARTIFACT_ENUM(name, ...) NVJITLINK_ARTIFACT_##name,
	NVJITLINK_ARTIFACTS(ARTIFACT_ENUM, )
#undef ARTIFACT_ENUM
	    NVJITLINK_ARTIFACT_COUNT
};

extern const struct compiler_function nvjitlink_functions[NVJITLINK_FUNCTION_COUNT]; /* in handlers.c */
extern struct environment nvjitlink_environment;

#endif
