/* SPDX-License-Identifier: MIT */
/* The answer is stored as one atomic value, so concurrent first calls compute it twice with the same result. */
#include "interpose/elf/copies.h"

#include "interpose/elf/elf.h"

#include <stdatomic.h>

enum active { ACTIVE_UNKNOWN, ACTIVE_THIS, ACTIVE_ANOTHER };

static _Atomic int active; /* enum active */

/*
 * Stops at the first copy in load order. A program that is linked statically with this library, as tests are, exports
 * no marker.
 */
static int decide_copy(const struct elf_object *object, void *context)
{
	(void)context;
	if (elf_contains(object, (uintptr_t)&active)) {
		return ACTIVE_THIS;
	}
	return elf_is_copy(object) ? ACTIVE_ANOTHER : ACTIVE_UNKNOWN;
}

bool copies_another_is_active(void)
{
	int now = atomic_load_explicit(&active, memory_order_relaxed);

	if (now == ACTIVE_UNKNOWN) {
		now = elf_each_object(decide_copy, NULL);
		atomic_store_explicit(&active, now, memory_order_relaxed);
	}
	return now == ACTIVE_ANOTHER;
}
