/* SPDX-License-Identifier: MIT */
#include "cache/pause.h"

bool pause_is_over(const struct pause *pause, int64_t now, int64_t *ret_seen)
{
	*ret_seen = atomic_load(&pause->until);
	/* a process that moved to another time namespace may see an end years ahead; it is longer than any pause */
	return *ret_seen == 0 || now >= *ret_seen || *ret_seen - now > pause->longest_ns;
}

bool pause_ask(struct pause *pause, int64_t now, int64_t *ret_seen)
{
	int64_t later = now + atomic_load(&pause->length);

	if (!pause_is_over(pause, now, ret_seen)) {
		return false;
	}
	if (*ret_seen != 0) {
		if (!atomic_compare_exchange_strong(&pause->until, ret_seen, later)) {
			return false;
		}
		*ret_seen = later;
	}
	return true;
}

void pause_end(struct pause *pause, int64_t seen)
{
	if (seen != 0) {
		(void)atomic_compare_exchange_strong(&pause->until, &seen, 0);
	}
}

/* Processes read different nanoseconds from their clocks, so a hash of `now` serves as a random number. */
static int64_t draw(int64_t length, int64_t now)
{
	uint64_t drawn = (uint64_t)now * UINT64_C(0x9e3779b97f4a7c15) >> 33;

	return length - (int64_t)(drawn % (uint64_t)(length / 2 + 1));
}

/* The length is stored first, because the thread that asks after the pause reads it. */
void pause_begin(struct pause *pause, int64_t seen, int64_t now)
{
	int64_t length = seen == 0 ? pause->first_ns : 2 * atomic_load(&pause->length);

	length = length < pause->longest_ns ? length : pause->longest_ns;
	if (atomic_load(&pause->until) == seen) {
		atomic_store(&pause->length, length);
		(void)atomic_compare_exchange_strong(&pause->until, &seen, now + draw(length, now));
	}
}
