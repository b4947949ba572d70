/* SPDX-License-Identifier: MIT */
/*
 * explanation: finds out why recorded calls were misses, by comparing them with the entries of the cache
 *
 * Each request is compared with all entries that are older: those in the cache directory, those in the directories of
 * NVRTCCACHE_LOWER, and those that were stored according to the record, so that the result does not change when an
 * entry is evicted.
 *
 * Calling sequence: events_read(), explanations_make() for some of its records, explanations_free(), events_free().
 * Every entry is read once, for all records together. Errors: negative errno values, also those of
 * cache/tools/inventory.h. Threads: one. Ownership: records and events belong to the caller, and must stay valid until
 * explanations_free().
 */
#ifndef CLI_EXPLAIN_EXPLANATION_H
#define CLI_EXPLAIN_EXPLANATION_H

#include "cache/agent.h"
#include "cache/events.h"
#include "cache/settings.h"
#include "cli/explain/differences.h"

static inline struct span span_of_record(struct events_text text)
{
	return (struct span){text.bytes, text.size};
}

enum cause {
	CAUSE_UNKNOWN,   /* the record does not contain enough */
	CAUSE_BROUGHT,   /* the entry exists now, but was not available to the call */
	CAUSE_PASSED,    /* the call was bypassed, for the reason in the record */
	CAUSE_STALE,     /* an entry was found, but one of its dependencies has changed */
	CAUSE_UNFIT,     /* an entry was not used or not looked up, for the reason in the record's detail */
	CAUSE_GONE,      /* an entry existed and was removed */
	CAUSE_REFUSED,   /* the same request was compiled before, and its result was not cached */
	CAUSE_DIFFERENT, /* the request differs from the closest cached entry */
	CAUSE_FIRST      /* no comparable entry existed before */
};

/* Where the closest entry is now. Among equally close entries, the earlier value of this list wins. */
enum closest_place { CLOSEST_NOWHERE, CLOSEST_CACHED, CLOSEST_BELOW, CLOSEST_GONE };

struct closest {
	enum closest_place place;
	uint8_t key[ENTRY_KEY_BYTES];
	uint64_t created_ns;
	unsigned distance;
	bool has_same_key;
	struct span about;
	void *copy; /* of the about section; NULL while the entry is in memory */
};

struct explanation {
	struct events_record record;
	void *about;            /* copy from the stored entry if the record's about section is cut; else NULL */
	struct request request; /* empty if the about section cannot be read */
	bool is_comparable;
	struct closest closest;
	struct request nearest;         /* the request of the closest entry */
	struct differences differences; /* from that request; of a stale entry: -I with other directories */
	enum cause cause;
	const struct events_record *earlier; /* CAUSE_GONE, CAUSE_REFUSED: the last call with the same request */
	struct span moved_now, moved_was;    /* CAUSE_STALE: the directories of a path-dependent entry */
};

int explanations_make(const struct settings *settings, const struct events *events, const struct events_record *records,
                      size_t count, struct explanation **ret_list);
void explanations_free(struct explanation *list, size_t count);

/* Prints an explanation on stdout, for people. */
void words_print(const struct explanation *explanation);

/* Returns one or two sentences: what the reason means and what the user can do. NULL: the counter is not a reason. */
const char *reasons_words(enum counter reason);

#endif
