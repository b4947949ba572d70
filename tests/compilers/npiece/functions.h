/* SPDX-License-Identifier: MIT */
/*
 * functions: those of npiece that concern a handle; X(name, since, gone, (parameters), arguments...), all return int
 *
 * npieceVersion concerns none, so dlsym gives the real one.
 */
#ifndef TESTS_COMPILERS_NPIECE_FUNCTIONS_H
#define TESTS_COMPILERS_NPIECE_FUNCTIONS_H

#include "interpose/compiler.h"

#define NPIECE_HANDLED(X)                                                                                           \
	X(npieceCreate, 100, 9999, (void **handle, int option_count, const char *const *options), handle,           \
	  option_count, options)                                                                                    \
	X(npieceAdd, 100, 9999, (void *handle, int kind, const char *name, const void *bytes, size_t size), handle, \
	  kind, name, bytes, size)                                                                                  \
	X(npieceComplete, 100, 9999, (void *handle), handle)                                                        \
	X(npieceGetOutputSize, 100, 9999, (void *handle, size_t *size), handle, size)                               \
	X(npieceGetOutput, 100, 9999, (void *handle, void *bytes), handle, bytes)                                   \
	X(npieceGetErrorLogSize, 100, 9999, (void *handle, size_t *size), handle, size)                             \
	X(npieceGetErrorLog, 100, 9999, (void *handle, char *bytes), handle, bytes)                                 \
	X(npieceDestroy, 100, 9999, (void **handle), handle)

enum npiece_function {
#define FUNCTION_ENUM(name, ...) FUNCTION_##name,
	NPIECE_HANDLED(FUNCTION_ENUM)
#undef FUNCTION_ENUM
	    FUNCTION_COUNT
};

extern const struct compiler_function npiece_functions[FUNCTION_COUNT];

/* The compiler's owns(), wants_door() and only_gives(). */
bool npiece_owns(const char *name);
bool npiece_wants_door(const char *name);
bool npiece_only_gives(const char *name);

#endif
