/* SPDX-License-Identifier: MIT */
/*
 * arch: the GPU architecture that the options name
 *
 * Purpose: finds "sm_90" in -arch=sm_90 and -arch sm_90, "compute_90" in --gpu-architecture=compute_90, ...
 *
 * Calling sequence: a zeroed struct, arch_see() for each option in order; then read `text` (NULL: no option names an
 * architecture). If several options do, the last one counts. Ownership: `text` points into the options.
 */
#ifndef KEYGEN_ARCH_H
#define KEYGEN_ARCH_H

#include <stdbool.h>
#include <stddef.h>

struct arch {
	const char *text; /* without a terminating NUL */
	size_t size;
	bool comes; /* the last option had no value: the next option is the architecture */
};

/* Notes the architecture if `option` names it, or is the value of the option before. */
void arch_see(struct arch *arch, const char *option, size_t size);

#endif
