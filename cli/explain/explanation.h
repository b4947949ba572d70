/* SPDX-License-Identifier: MIT */
/*
 * explanation: finds out why calls in a journal were misses, by comparing them with the entries of the cache
 *
 * Each request is compared with all entries that are older: those in the cache directory, those in the directories of
 * NVRTCCACHE_LOWER, and those that were stored according to the journal, so that the result does not change when an
 * entry is evicted.
 *
 * Calling sequence: journal_read(), explanations_make() for some of its records, explanations_free(), journal_free().
 * Every entry is read once, for all records together. Errors: negative errno values, also those of
 * cache/tools/inventory.h. Threads: one. Ownership: records and journal belong to the caller, and must stay valid until
 * explanations_free().
 */
#ifndef CLI_EXPLAIN_EXPLANATION_H
#define CLI_EXPLAIN_EXPLANATION_H

#include "cache/agent.h"
#include "cache/counters.h"
#include "cache/journal.h"
#include "cache/settings.h"
#include "cli/explain/differences.h"

enum journal_outcome {
	JOURNAL_STORED,   /* a miss whose result was stored */
	JOURNAL_NOT_KEPT, /* a miss whose result was not cached */
	JOURNAL_PASSED    /* a bypass: there was no look-up */
};

/* The texts are empty if the record has none. */
struct journal_record {
	uint64_t when_ns; /* CLOCK_REALTIME at the end of the call */
	uint64_t cost_ns; /* the time that the compiler itself took */
	uint64_t took_ns; /* the time from the beginning of the call to its end */
	uint32_t pid;
	enum journal_outcome outcome;
	enum agent_outcome agent; /* the answer of the node's agent */
	bool has_key;
	bool is_stale;   /* there was a result, but its dependencies did not hold: `detail` says why */
	bool is_unfit;   /* a valid result was not served, or there was no look-up for one: `detail` says why */
	bool has_failed; /* the compiler returned an error */
	bool is_cut;     /* `about` lacks its last facts */
	uint8_t key[ENTRY_KEY_BYTES];
	struct span reason;  /* a counter's name */
	struct span detail;  /* "header changed: inc/vec.h" */
	struct span refusal; /* the dependency because of which the result was not cached: "the file inc/vec.h" */
	struct span about;   /* the request (keygen/about.h) */
};

struct journal {
	struct journal_record *records; /* oldest first */
	size_t count;
	char *bytes; /* the texts point into it; the requests have memory of their own */
};

/*
 * Reads the records of both files. A missing directory has none; files that are missing, not trusted or not ours count
 * as empty.
 */
int journal_read(const struct directory *directory, struct journal *ret_journal);
/* Finds the sound records in `bytes`, which then belong to the journal. The texts are decoded in place. */
int journal_parse(char *bytes, size_t size, struct journal *ret_journal);
void journal_free(struct journal *journal);

enum cause {
	CAUSE_UNKNOWN,   /* the record does not contain enough */
	CAUSE_BROUGHT,   /* the entry exists now, but was not available to the call */
	CAUSE_PASSED,    /* the call was bypassed, for the reason in the record */
	CAUSE_STALE,     /* an entry was found, but one of its dependencies has changed */
	CAUSE_UNFIT,     /* an entry was not used or not looked up, for the reason in the record's detail */
	CAUSE_GONE,      /* an entry existed and was removed */
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
	struct journal_record record;
	void *about;            /* copy from the stored entry if the record's about section is cut; else NULL */
	struct request request; /* empty if the about section cannot be read */
	bool is_comparable;
	struct closest closest;
	struct request nearest;         /* the request of the closest entry */
	struct differences differences; /* from that request; of a stale entry: -I with other directories */
	enum cause cause;
	uint64_t stored_ns;               /* CAUSE_GONE */
	struct span moved_now, moved_was; /* CAUSE_STALE: the directories of a path-dependent entry */
};

int explanations_make(const struct settings *settings, const struct journal *journal,
                      const struct journal_record *records, size_t count, struct explanation **ret_list);
void explanations_free(struct explanation *list, size_t count);

/* Prints an explanation on stdout, for people. */
void words_print(const struct explanation *explanation);

/* Returns the reason with that name; COUNTER_NONE if there is none. */
enum counter reasons_find(struct span name);
/* Returns one or two sentences: what the reason means and what the user can do. NULL: the counter is not a reason. */
const char *reasons_words(enum counter reason);

#endif
