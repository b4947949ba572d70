/* SPDX-License-Identifier: MIT */
/*
 * explanation: why calls of a journal were misses, by what the cache holds
 *
 * Each request is compared with all entries that existed before it: those of the cache directory, those of the
 * directories of NVRTCCACHE_LOWER, and those that the journal says were stored, so that the answer stays the same after
 * an entry is evicted.
 *
 * Calling sequence: explanations_make() of some records of a journal, look, explanations_free(). Every entry is read
 * once, however many records there are. Errors: negative errno values of cache/tools/inventory.h. Threads: one.
 * Ownership: records and journal are the caller's, and stay until the end.
 */
#ifndef CLI_EXPLAIN_EXPLANATION_H
#define CLI_EXPLAIN_EXPLANATION_H

#include "cache/counters.h"
#include "cache/journal.h"
#include "cache/settings.h"
#include "cli/explain/differences.h"

enum cause {
	CAUSE_UNKNOWN,   /* the record says too little */
	CAUSE_BROUGHT,   /* the entry is there, and was not available then */
	CAUSE_PASSED,    /* nothing was looked up: the record's reason */
	CAUSE_STALE,     /* there was an entry, and a dependency of it has changed */
	CAUSE_UNFIT,     /* an entry was there and not used, or not looked for: the detail */
	CAUSE_GONE,      /* an entry existed and was removed */
	CAUSE_DIFFERENT, /* from the closest cached entry */
	CAUSE_FIRST      /* no comparable entry existed before */
};

/* Where the closest entry is now. Of equally close ones the first of these is taken. */
enum closest_place { CLOSEST_NOWHERE, CLOSEST_CACHED, CLOSEST_BELOW, CLOSEST_GONE };

struct closest {
	enum closest_place place;
	uint8_t key[ENTRY_KEY_BYTES];
	uint64_t created_ns;
	unsigned distance;
	bool has_same_key;
	void *about;
	size_t about_size;
};

struct explanation {
	struct journal_record record;
	void *about;            /* of the entry that was stored, where the record had no room for all of it; or NULL */
	struct request request; /* empty where the record's about section cannot be read */
	bool is_comparable;
	struct closest closest;
	struct request nearest;         /* what the closest entry says of itself */
	struct differences differences; /* from that; of a stale entry: the -I that lead elsewhere */
	enum cause cause;
	uint64_t stored_ns; /* CAUSE_GONE */
};

int explanations_make(const struct settings *settings, const struct journal *journal,
                      const struct journal_record *records, size_t count, struct explanation **ret_list);
void explanations_free(struct explanation *list, size_t count);

/* COUNTER_NONE: no reason has that name. `name` need not end. */
enum counter reasons_find(struct span name);
/* One or two sentences: what the reason means and what helps. NULL: it is no reason. */
const char *reasons_words(enum counter reason);

#endif
