/* SPDX-License-Identifier: MIT */
/*
 * describe: the request of one nvrtcCompileProgram, and the options of its real call (docs/DESIGN.md)
 *
 * Calling sequence: the compiler's describe(), free_request() and prepare() (interpose/compiler.h).
 */
#ifndef INTERPOSE_NVRTC_DESCRIBE_H
#define INTERPOSE_NVRTC_DESCRIBE_H

#include "interpose/compile/request.h"
#include "interpose/compiler.h"
#include "interpose/nvrtc/options.h"

enum counter describe_compile(struct handle *handle, const struct call *call, struct surroundings *around,
                              const struct snapshot *told, struct request *ret_request);
void describe_free(struct request *request);
bool describe_prepare(const struct handle *handle, const struct call *call, const struct request *request,
                      struct call *ret_given);
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
