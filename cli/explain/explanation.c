/* SPDX-License-Identifier: MIT */
/*
 * The cause is found by several tests in order, first those of the record itself, then those of what was recorded
 * before.
 */
#include "cli/explain/explanation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int history_read(const struct events *events, struct history *ret_history)
{
	struct request *requests = calloc(events->count + 1, sizeof(*requests));

	if (!requests) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < events->count; i++) {
		const struct events_record *record = &events->records[i];

		const struct events_text *about = &record->parts[EVENTS_ABOUT];

		if (request_read(about->bytes, about->size, &requests[i]) == 0) {
			requests[i].is_cut = record->is_cut;
		}
	}
	*ret_history = (struct history){events, requests};
	return 0;
}

void history_free(struct history *history)
{
	for (size_t i = 0; i < history->events->count; i++) {
		request_free(&history->requests[i]);
	}
	free(history->requests);
}

/* Returns whether the other call had ended when this one began, so that this one could have found its entry. */
static bool is_before(const struct events_record *other, const struct events_record *record)
{
	return other->when_ns + record->took_ns < record->when_ns;
}

/* Returns whether both calls asked for the same. Requests without a key are compared by what is recorded of them. */
static bool is_same_request(const struct events_record *record, const struct events_record *other)
{
	if (record->has_key || other->has_key) {
		return record->has_key && other->has_key && memcmp(record->key, other->key, ENTRY_KEY_BYTES) == 0;
	}
	return record->parts[EVENTS_ABOUT].size > 0 &&
	       span_equal(span_of_record(record, EVENTS_ABOUT), span_of_record(other, EVENTS_ABOUT));
}

/* Returns the last miss before the record that had the same request; NULL: there is none. */
static const struct events_record *find_earlier(const struct events *events, const struct events_record *record)
{
	const struct events_record *found = NULL;

	for (size_t i = 0; i < events->count; i++) {
		const struct events_record *other = &events->records[i];

		if (other->kind != EVENTS_BYPASSED && is_before(other, record) &&
		    (!found || other->when_ns > found->when_ns) && is_same_request(record, other)) {
			found = other;
		}
	}
	return found;
}

/* Finds the stored request that differs least; of several, the newest. */
static void find_closest(const struct history *history, struct explanation *explanation)
{
	for (size_t i = 0; i < history->events->count; i++) {
		const struct events_record *other = &history->events->records[i];
		struct differences differences;

		/* a cut record is not compared, because options and headers are missing in it */
		if (other->kind != EVENTS_STORED || other->is_cut || !is_before(other, explanation->record) ||
		    !differences_related(explanation->request, &history->requests[i])) {
			continue;
		}
		differences_find(explanation->request, &history->requests[i], &differences);
		if (!explanation->earlier || differences.weight <= explanation->differences.weight) {
			differences_free(&explanation->differences);
			explanation->earlier = other;
			explanation->differences = differences;
		} else {
			differences_free(&differences);
		}
	}
}

static enum cause find_cause(const struct history *history, struct explanation *explanation)
{
	const struct events_record *record = explanation->record;

	if (record->kind == EVENTS_BYPASSED) {
		return CAUSE_PASSED;
	}
	if (record->why == EVENTS_WHY_UNFIT) {
		return CAUSE_UNFIT;
	}
	explanation->earlier = find_earlier(history->events, record);
	if (record->why == EVENTS_WHY_STALE) {
		return CAUSE_STALE;
	}
	if (explanation->earlier) {
		return explanation->earlier->kind == EVENTS_STORED ? CAUSE_GONE : CAUSE_REFUSED;
	}
	if (explanation->request->counts[ABOUT_COMPILER] == 0) {
		return CAUSE_UNKNOWN;
	}
	find_closest(history, explanation);
	return explanation->earlier ? CAUSE_DIFFERENT : CAUSE_FIRST;
}

void explanation_find(const struct history *history, size_t index, struct explanation *ret_explanation)
{
	*ret_explanation =
	    (struct explanation){.record = &history->events->records[index], .request = &history->requests[index]};
	ret_explanation->cause = find_cause(history, ret_explanation);
}

void explanation_free(struct explanation *explanation)
{
	differences_free(&explanation->differences);
}
