/* SPDX-License-Identifier: MIT */
#include "cache/pause.h"

static int64_t length_of(const struct pause *pause)
{
	int64_t length = atomic_load(&pause->length);

	return length > pause->first_ns ? length : pause->first_ns;
}

/*
 * Processes read different nanoseconds from their clocks, so a hash of them serves as a random number. A process that
 * moved to another time namespace may see a beginning years ahead, and does not wait for it.
 */
static bool is_past(const struct pause *pause, int64_t since, int64_t now)
{
	int64_t length = length_of(pause);
	uint64_t drawn = (uint64_t)since * UINT64_C(0x9e3779b97f4a7c15) >> 33;

	length -= (int64_t)(drawn % (uint64_t)(length / 2 + 1));
	return since == 0 || now >= since + length || since - now > pause->longest_ns;
}

/*
 * Begins the pause after that of `since`. Returns false if another thread was first. Until the length is stored, other
 * threads see that of the pause before, or none, which counts as the first.
 */
static bool begin_next(struct pause *pause, int64_t since, int64_t now)
{
	int64_t length = since == 0 ? pause->first_ns : 2 * length_of(pause);

	length = length < pause->longest_ns ? length : pause->longest_ns;
	if (!atomic_compare_exchange_strong(&pause->since, &since, now)) {
		return false;
	}
	atomic_store(&pause->length, length);
	return true;
}

bool pause_is_over(const struct pause *pause, int64_t now)
{
	return is_past(pause, atomic_load(&pause->since), now);
}

bool pause_ask(struct pause *pause, int64_t now)
{
	int64_t since = atomic_load(&pause->since);

	return is_past(pause, since, now) && (since == 0 || begin_next(pause, since, now));
}

void pause_begin(struct pause *pause, int64_t now)
{
	int64_t since = atomic_load(&pause->since);

	if (is_past(pause, since, now)) {
		(void)begin_next(pause, since, now);
	}
}

void pause_end(struct pause *pause, int64_t asked)
{
	int64_t since = atomic_load(&pause->since);

	if (since != 0 && since <= asked) {
		(void)atomic_compare_exchange_strong(&pause->since, &since, 0);
	}
}
