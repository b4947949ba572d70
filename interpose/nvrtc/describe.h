/* SPDX-License-Identifier: MIT */
/*
 * describe: the request of one nvrtcCompileProgram (docs/DESIGN.md)
 *
 * Calling sequence: the compiler's describe() and free_request() (interpose/compiler.h).
 */
#ifndef INTERPOSE_NVRTC_DESCRIBE_H
#define INTERPOSE_NVRTC_DESCRIBE_H

#include "interpose/compile/request.h"
#include "interpose/compiler.h"
#include "interpose/nvrtc/options.h"

enum counter describe_compile(struct handle *handle, const struct call *call, struct surroundings *around,
                              const struct snapshot *told, struct request *ret_request);
void describe_free(struct request *request);
/*
 * Returns true if the bundled headers of the compilation are in a temporary directory, in a process that unpacked some.
 * No later process can use the result: it unpacks them elsewhere, and NVRTC's marker, which is read, has the time.
 */
bool describe_unpacked_here(const struct options *options);

_Static_assert(sizeof(struct options) <= REQUEST_OWN_BYTES, "the options as they were read are a request's own");

static inline const struct options *options_of(const struct request *request)
{
	return (const struct options *)request->own;
}

#endif
