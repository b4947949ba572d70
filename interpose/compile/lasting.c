/* SPDX-License-Identifier: MIT */
#include "interpose/compile/lasting.h"

/* The value of `uncleared` after calls with different sets of uncleared options. */
#define UNCLEARED_SEVERAL UINT64_MAX

struct lasting lasting_begin(struct library *library, const struct call *call)
{
	struct lasting lasting = library->compiler->lasting ? library->compiler->lasting(call) : (struct lasting){0};

	atomic_fetch_or(&library->told, lasting.sticky);
	if (lasting.uncleared) {
		atomic_fetch_add(&library->uncleared_running, 1);
	}
	return lasting;
}

void lasting_end(struct library *library, const struct lasting *lasting, int result)
{
	if (lasting->uncleared) {
		if (compiler_outcome(library->compiler, result) != OUTCOME_REFUSED_OPTIONS) {
			lasting_note(library, lasting->uncleared);
		}
		atomic_fetch_sub(&library->uncleared_running, 1);
	}
}

void lasting_note(struct library *library, uint64_t uncleared)
{
	uint64_t earlier = 0;

	if (!atomic_compare_exchange_strong(&library->uncleared, &earlier, uncleared) && earlier != uncleared) {
		atomic_store(&library->uncleared, UNCLEARED_SEVERAL);
	}
}

enum counter lasting_spoils(const struct library *library, uint32_t spoiling, uint64_t uncleared)
{
	/* read before `uncleared`, to which a running call adds before it ends */
	bool running = atomic_load(&library->uncleared_running) != 0;
	uint64_t earlier = atomic_load(&library->uncleared);

	if (atomic_load(&library->told) & spoiling) {
		return COUNTER_BYPASSED_sticky_options;
	}
	return running || earlier == UNCLEARED_SEVERAL || (earlier != 0 && earlier != uncleared)
	           ? COUNTER_BYPASSED_uncleared_options
	           : COUNTER_NONE;
}
