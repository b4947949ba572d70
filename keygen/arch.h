/* SPDX-License-Identifier: MIT */
/*
 * arch: the architecture that options name: "sm_90" of -arch=sm_90, -arch sm_90, --gpu-architecture=compute_90, ...
 *
 * Calling sequence: a zeroed struct, arch_see() for each option in order; then read `text` (NULL: no option names
 * one). The last such option counts. Ownership: `text` points into the options.
 */
#ifndef KEYGEN_ARCH_H
#define KEYGEN_ARCH_H

#include <stdbool.h>
#include <stddef.h>

struct arch {
	const char *text; /* without a terminating NUL */
	size_t size;
	bool comes; /* the next option is its value */
};

void arch_see(struct arch *arch, const char *option, size_t size);

#endif
