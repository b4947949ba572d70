/* SPDX-License-Identifier: MIT */
/*
 * explanation: why a call was a miss, and how that is said to people
 *
 * explain.c fills it in. Threads: one. Errors: none.
 */
#ifndef CLI_EXPLAIN_EXPLANATION_H
#define CLI_EXPLAIN_EXPLANATION_H

#include "cache/events.h"
#include "cli/explain/differences.h"

static inline struct span span_of_record(const struct events_record *record, enum events_part part)
{
	return (struct span){record->parts[part].bytes, record->parts[part].size};
}

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
	const struct events_record *compared;
	struct differences differences; /* from the closest */
};

/* Prints an explanation on stdout, for people. */
void explanation_print(const struct explanation *explanation);

#endif
