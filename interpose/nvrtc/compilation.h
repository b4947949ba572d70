/* SPDX-License-Identifier: MIT */
/*
 * compilation: one nvrtcCompileProgram on its way, beyond what all attempts have (interpose/compile/attempt.h)
 */
#ifndef INTERPOSE_NVRTC_COMPILATION_H
#define INTERPOSE_NVRTC_COMPILATION_H

#include "interpose/compile/attempt.h"
#include "interpose/nvrtc/options.h"

struct compilation {
	struct attempt attempt;
	struct options options; /* as read */
	const char **more;      /* the host's options and one of ours, where there is need (describe.c) */
};

static inline struct compilation *compilation_of(struct attempt *attempt)
{
	return (struct compilation *)attempt;
}

static inline const struct options *options_of(const struct attempt *attempt)
{
	return &((const struct compilation *)attempt)->options;
}

#endif
