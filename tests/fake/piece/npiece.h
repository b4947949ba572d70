/* SPDX-License-Identifier: MIT */
/*
 * npiece: the interface of a compiler that is made up, and unlike NVRTC
 *
 * Options are given when the handle is made, the input comes piece by piece, and one kind of piece is a path that the
 * library opens by itself while it completes. It has no companion, and where all pieces are texts it opens no file.
 */
#ifndef TESTS_FAKE_PIECE_NPIECE_H
#define TESTS_FAKE_PIECE_NPIECE_H

#include <stddef.h>

typedef struct npiece_work *npieceHandle;

enum npiece_result {
	NPIECE_SUCCESS,
	NPIECE_INVALID_INPUT,
	NPIECE_UNKNOWN_OPTION,
	NPIECE_BAD_PIECE,
	NPIECE_NOT_COMPLETED,
	NPIECE_ALREADY_COMPLETED,
	NPIECE_OUT_OF_MEMORY,
	NPIECE_INTERNAL_ERROR
};

/* A path comes without bytes; a file that is not there is warned of in the log. */
enum npiece_kind { NPIECE_TEXT = 1, NPIECE_PATH = 2 };

#define NPIECE_FUNCTIONS(X)                                                                             \
	X(npieceCreate, (npieceHandle * handle, int option_count, const char *const *options))          \
	X(npieceAdd, (npieceHandle handle, int kind, const char *name, const void *bytes, size_t size)) \
	X(npieceComplete, (npieceHandle handle))                                                        \
	X(npieceGetOutputSize, (npieceHandle handle, size_t *size))                                     \
	X(npieceGetOutput, (npieceHandle handle, void *bytes))                                          \
	X(npieceGetErrorLogSize, (npieceHandle handle, size_t *size))                                   \
	X(npieceGetErrorLog, (npieceHandle handle, char *bytes))                                        \
	X(npieceDestroy, (npieceHandle * handle))                                                       \
	X(npieceVersion, (int *major, int *minor))

/* One that came later, and that no table knows: is there an output? Read from the handle itself. */
#define NPIECE_LATER(X) X(npieceInspect, (npieceHandle handle, int *ret_output))

#define NPIECE_DECLARE(name, parameters) __attribute__((visibility("default"))) int name parameters;
NPIECE_FUNCTIONS(NPIECE_DECLARE)
NPIECE_LATER(NPIECE_DECLARE)
#undef NPIECE_DECLARE

/* The fake's own: how often this library has gone through the pieces of a handle, in this process. */
__attribute__((visibility("default"))) int fakeNpieceCompletes(void);

/* What comes out at the end otherwise than by the input; "": nothing. Unseen by whoever watches the library. */
extern __attribute__((visibility("default"))) char fakeNpieceWhim[16];

#endif
