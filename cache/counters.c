/* SPDX-License-Identifier: MIT */
#include "cache/counters.h"

#include <stdatomic.h>
#include <stdbool.h>

#define WORDS ((COUNTER_COUNT + 63) / 64)

static const struct {
	char name[24]; /* a pointer would cost every process that preloads the library a relocation */
	enum counter_group group;
} counters[COUNTER_COUNT] = {
#define COUNTER_ROW(group, name) [COUNTER_##group##_##name] = {#name, COUNTER_##group},
    [COUNTER_NONE] = {"none", COUNTER_NOTHING}, COUNTERS(COUNTER_ROW)
#undef COUNTER_ROW
};

static _Atomic uint64_t counted[COUNTER_COUNT];
static _Atomic uint64_t unrecorded[COUNTER_COUNT]; /* the part of `counted` that no record contains */
static _Atomic uint64_t changed[WORDS];            /* a bit for each counter of which that may not be 0 */

const char *counter_name(enum counter counter)
{
	return counters[counter].name;
}

enum counter_group counter_group(enum counter counter)
{
	return counters[counter].group;
}

uint64_t counters_here(enum counter counter)
{
	uint64_t counts[COUNTER_COUNT];

	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		counts[i] = atomic_load_explicit(&counted[i], memory_order_relaxed);
	}
	counters_add_shares(counts);
	return counts[counter];
}

void counters_add_shares(uint64_t counts[COUNTER_COUNT])
{
	for (size_t i = 0; i < COUNTER_COUNT - COUNTER_NVRTC_hits_memory; i++) {
		counts[COUNTER_TOTAL_hits_memory + i % COUNTERS_EACH] += counts[COUNTER_NVRTC_hits_memory + i];
	}
}

/* In this order: a thread that takes the bit before it is set again takes the amount too. */
static void add_unrecorded(uint64_t counter, uint64_t amount)
{
	atomic_fetch_add(&unrecorded[counter], amount);
	atomic_fetch_or(&changed[counter / 64], UINT64_C(1) << counter % 64);
}

void counters_add(enum counter counter, uint64_t amount)
{
	atomic_fetch_add_explicit(&counted[counter], amount, memory_order_relaxed);
	add_unrecorded(counter, amount);
}

void counters_add_reason(enum counter_group of, enum counter sum, enum counter reason)
{
	const bool is_miss = sum == COUNTER_TOTAL_not_kept;
	enum counter known = reason;

	if (counter_group(reason) == COUNTER_ERRORS) {
		counters_add(reason, 1);
		known = (enum counter)(reason - COUNTER_ERRORS_directory + COUNTER_BYPASSED_directory);
	}
	counters_add(is_miss ? known - COUNTER_BYPASSED_disabled + COUNTER_NOT_KEPT_disabled : known, 1);
	counters_add(counter_share(of, sum), 1);
}

void counters_take(struct counters_amounts *ret_amounts)
{
	size_t count = 0;

	for (size_t word = 0; word < WORDS; word++) {
		for (uint64_t bits = atomic_exchange(&changed[word], 0); bits != 0; bits &= bits - 1) {
			uint64_t counter = 64 * word + (unsigned)__builtin_ctzll(bits);
			uint64_t amount = atomic_exchange(&unrecorded[counter], 0);

			ret_amounts->list[count] = (struct counters_amount){counter, amount};
			count += amount != 0;
		}
	}
	ret_amounts->count = count;
}

void counters_give_back(const struct counters_amounts *amounts)
{
	for (size_t i = 0; i < amounts->count; i++) {
		add_unrecorded(amounts->list[i].counter, amounts->list[i].amount);
	}
}

void counters_fork_child(void)
{
	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		atomic_store_explicit(&counted[i], 0, memory_order_relaxed);
		atomic_store_explicit(&unrecorded[i], 0, memory_order_relaxed);
	}
}
