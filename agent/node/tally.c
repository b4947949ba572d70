/* SPDX-License-Identifier: MIT */
/*
 * One lock protects all counts, because they change at most a few hundred times a second.
 */
#include "agent/node/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void tally_begin(struct tally *tally)
{
	memset(tally, 0, sizeof(*tally));
	pthread_mutex_init(&tally->lock, NULL);
}

/* Uses the lock and not atomics, so that --status shows a consistent snapshot. */
void tally_add(struct tally *tally, enum tally_count what, uint64_t how_many)
{
	pthread_mutex_lock(&tally->lock);
	tally->counts[what] += how_many;
	pthread_mutex_unlock(&tally->lock);
}

/* Counts an answer, and stores the text of an error. An absent value is not an error. */
void tally_answer(struct tally *tally, enum engine_answer answer, const char *text)
{
	pthread_mutex_lock(&tally->lock);
	tally->answers[answer]++;
	if (text[0] != '\0' && answer != ENGINE_DONE && answer != ENGINE_ABSENT) {
		snprintf(tally->last_error, sizeof(tally->last_error), "%s", text);
		tally->last_error_s = time(NULL);
	}
	pthread_mutex_unlock(&tally->lock);
}

/* Only the last TALLY_TIMES times are stored, because percentiles of all times would hide a recent change. */
void tally_time(struct tally *tally, int64_t ns)
{
	pthread_mutex_lock(&tally->lock);
	tally->times_us[tally->timed++ % TALLY_TIMES] = (uint64_t)ns / 1000;
	pthread_mutex_unlock(&tally->lock);
}

/* Bad signatures have a counter of their own, because they need the attention of the operator. */
void tally_refused(struct tally *tally, enum value_found found)
{
	switch (found) {
	case VALUE_UNSIGNED:
	case VALUE_UNKNOWN_KEY:
	case VALUE_FORGED:
		tally_add(tally, TALLY_mac_refused, 1);
		break;
	case VALUE_FOREIGN:
		tally_add(tally, TALLY_format_refused, 1);
		break;
	default:
		tally_add(tally, TALLY_damaged, 1);
		break;
	}
}

static int compare_times(const void *left, const void *right)
{
	const uint64_t *a = left;
	const uint64_t *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Sorts a copy of the times, so that the lock is held only for the copying. */
void tally_show(struct tally *tally, struct tally_shown *ret_shown)
{
	uint64_t times[TALLY_TIMES];
	size_t count;

	*ret_shown = (struct tally_shown){.p50_us = 0};
	pthread_mutex_lock(&tally->lock);
	memcpy(ret_shown->counts, tally->counts, sizeof(tally->counts));
	memcpy(ret_shown->answers, tally->answers, sizeof(tally->answers));
	memcpy(ret_shown->last_error, tally->last_error, sizeof(tally->last_error));
	ret_shown->last_error_s = tally->last_error_s;
	count = tally->timed < TALLY_TIMES ? (size_t)tally->timed : TALLY_TIMES;
	memcpy(times, tally->times_us, count * sizeof(times[0]));
	pthread_mutex_unlock(&tally->lock);
	if (count != 0) {
		qsort(times, count, sizeof(times[0]), compare_times);
		ret_shown->p50_us = times[count / 2];
		ret_shown->p99_us = times[count - 1 - count / 100];
	}
}

const char *tally_name(enum tally_count what)
{
#define TALLY_NAME(name) #name,
	static const char *const names[] = {TALLY_COUNTS(TALLY_NAME)};
#undef TALLY_NAME

	return names[what];
}
