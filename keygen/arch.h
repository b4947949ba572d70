/* SPDX-License-Identifier: MIT */
/*
 * arch: for which machine options ask: "sm_90" of -arch=sm_90, -arch sm_90, --gpu-architecture=compute_90, ...
 *
 * Calling sequence: zeros, arch_see() for each option in order; then `text` (NULL: none of them said so). The last one
 * counts. Ownership: it points into the options.
 */
#ifndef KEYGEN_ARCH_H
#define KEYGEN_ARCH_H

#include <stdbool.h>
#include <stddef.h>

struct arch {
	const char *text; /* no NUL behind it */
	size_t size;
	bool comes; /* the next option is it */
};

void arch_see(struct arch *arch, const char *option, size_t size);

#endif
