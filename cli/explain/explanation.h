/* SPDX-License-Identifier: MIT */
/*
 * explanation: finds out from the record why calls were misses (cache/events.h)
 *
 * Each request is compared with those whose results were stored before, as far as the record has them: the newest
 * thousand or more. No entry is read, so the result does not change when one is evicted.
 *
 * Calling sequence: events_read(), history_read(), explanation_find() for some of the records, explanation_free(),
 * history_free(), events_free(). Threads: one. Errors: without memory, requests or differences are missing.
 */
#ifndef CLI_EXPLAIN_EXPLANATION_H
#define CLI_EXPLAIN_EXPLANATION_H

#include "cache/agent_client.h"
#include "cache/events.h"
#include "cli/explain/differences.h"

static inline struct span span_of_record(const struct events_record *record, enum events_part part)
{
	return (struct span){record->parts[part].bytes, record->parts[part].size};
}

struct history {
	const struct events *events;
	struct request *requests; /* of each record; without facts if the record does not contain it */
};

enum cause {
	CAUSE_UNKNOWN,   /* the record does not contain the request */
	CAUSE_PASSED,    /* the call was bypassed, for the reason in the record */
	CAUSE_STALE,     /* an entry was found, but one of its dependencies has changed */
	CAUSE_UNFIT,     /* an entry was not used or not looked up, for the reason in the record's detail */
	CAUSE_GONE,      /* the same request was stored before, and no entry was found */
	CAUSE_REFUSED,   /* the same request was compiled before, and its result was not cached */
	CAUSE_DIFFERENT, /* the request differs from a similar one that was stored before */
	CAUSE_FIRST      /* no similar one was stored before */
};

struct explanation {
	const struct events_record *record;
	const struct request *request;
	enum cause cause;
	/* The last call with the same request (CAUSE_GONE, CAUSE_REFUSED, CAUSE_STALE), or the closest. NULL: none. */
	const struct events_record *earlier;
	struct differences differences; /* from the closest */
};

int history_read(const struct events *events, struct history *ret_history);
void history_free(struct history *history);
void explanation_find(const struct history *history, size_t index, struct explanation *ret_explanation);
void explanation_free(struct explanation *explanation);

/* Prints an explanation on stdout, for people. */
void words_print(const struct explanation *explanation);

/* Returns one or two sentences: what the reason means and what the user can do. NULL: the counter is not a reason. */
const char *reasons_words(enum counter reason);

#endif
